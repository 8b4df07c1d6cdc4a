"""HTML pages for all reports: each is one file with its style, its script, sortable tables and figures."""
