"use strict";
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");

  // A page opened from a disk may not be allowed to remember anything; it works all the same.
  const remembered = () => { try { return localStorage.getItem("graphbandit-theme"); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem("graphbandit-theme", theme); } catch { /* as above */ } };

  const saved = remembered();
  if (saved === "light" || saved === "dark") root.dataset.theme = saved;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

  function prepareTheme() {
    const button = document.getElementById("theme");
    const show = () => {
      button.textContent = isDark() ? "Light" : "Dark";
      button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
      button.setAttribute("aria-pressed", String(isDark()));
    };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      remember(root.dataset.theme);
      show();
    });
    system.addEventListener("change", show);
    button.hidden = false;
    show();
  }

  // Cells sort by data-value where they have one (a number, or empty: always last), otherwise by their text.
  function sortRows(table, column, direction) {
    const value = (row) => {
      const cell = row.cells[column];
      if (cell.dataset.value === undefined) return cell.textContent.trim();
      return cell.dataset.value === "" ? null : Number(cell.dataset.value);
    };
    const compare = (a, b) => {
      if (a === null || b === null) return (a === null) - (b === null);
      const order = typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
      return direction === "ascending" ? order : -order;
    };
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => [value(row), row]);
    rows.sort(([a], [b]) => compare(a, b));
    body.append(...rows.map(([, row]) => row));
  }

  function prepareTable(table) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const direction = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction);
      sortRows(table, column, direction);
    }));
  }

  document.addEventListener("DOMContentLoaded", () => {
    prepareTheme();
    document.querySelectorAll("table.sortable").forEach(prepareTable);
  });
})();
