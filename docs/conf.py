"""Settings of the site: `make docs` builds it, and nothing on it is fetched from elsewhere when it is read."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE / "_extensions")]
# notebooks run in processes of their own, on the same sources
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
os.environ.pop("MPLBACKEND", None)
# and with a profile of their own: pictures as vectors in the page, whatever the reader's own settings are
PROFILE = HERE / "_build" / "ipython" / "profile_default"
PROFILE.mkdir(parents=True, exist_ok=True)
(PROFILE / "ipython_kernel_config.py").write_text(
    "c.IPKernelApp.matplotlib = 'inline'\nc.InlineBackend.figure_formats = {'svg'}\nc.IPKernelApp.log_level = 40\n"
)
os.environ["IPYTHONDIR"] = str(PROFILE.parent)

import graphbandit  # noqa: E402

project = "graphbandit"
author = "The graphbandit developers"
copyright = "The graphbandit developers, MIT licence"
version = release = graphbandit.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "api_pages",
    "command_pages",
    "mathml",
    "plain_docstrings",
    "settings_of_classes",
]
exclude_patterns = ["_build", "_extensions", "**.ipynb_checkpoints"]
html_math_renderer = "mathml"
smartquotes_action = "q"  # quotes, but no dashes: options of commands have two hyphens

# text: Markdown with $formulas$, ::: boxes and definition lists
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 3
myst_substitutions = {
    "version": release,
    "made_here": f"*The pictures on this page were made by its own code: `make docs`, graphbandit {release}.*",
}
suppress_warnings = [
    "myst.header",  # a report may start its tables at the third level
    "ref.python",  # the axes in annotations, as " size", are no references
]

# notebooks: Markdown with cells, run when the site is built; DOCS_EXECUTE=off shows the code alone
nb_execution_mode = os.environ.get("DOCS_EXECUTE", "cache")
nb_execution_cache_path = str(HERE / "_build" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_execution_in_temp = True  # what a page saves is gone when it is built
nb_merge_streams = True

# the API from docstrings; api_pages.py writes one page a public name
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
maximum_signature_line_length = 88
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
add_module_names = False

html_theme = "furo"
html_title = "graphbandit"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/star.svg"
html_logo = "_static/star.svg"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}
pygments_style = "friendly"
pygments_dark_style = "monokai"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
