/* What pages do by themselves: follow old anchors, and read well on narrow screens. The looks are in site.css.

Old anchors: a guide that was split leads to the chapter that has the anchor now; scripts/site/chapters.py writes the
marks. Narrow screens: a list of the page's headings below its title, because the theme's is behind an icon, and tables
that do not fit become a block for each row, with the titles of the columns before the cells. */
"use strict";

const FEWEST_HEADINGS = 4; // for a list of them
const TALLEST_ROW = 140; // in pixels, of a table with three or more columns that stays a table
const narrow = matchMedia("(max-width: 640px)");

function follow() {
  const mark = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const page = mark && mark.dataset.page;
  if (page) {
    location.replace(new URL(page, document.baseURI).href);
  }
}

function listHeadings() {
  const tree = document.querySelector(".toc-tree");
  const title = document.querySelector("article h1");
  if (!tree || !title || tree.querySelectorAll("a").length <= FEWEST_HEADINGS) return;
  const list = document.createElement("details");
  list.className = "on-this-page";
  list.innerHTML = "<summary>On this page</summary>";
  list.append(...[...tree.children].map((each) => each.cloneNode(true)));
  title.after(list);
  list.addEventListener("click", (event) => { if (event.target.closest("a")) list.open = false; });
}

function label(table) {
  const titles = [...table.querySelectorAll("thead th")].map((each) => each.textContent.trim());
  for (const row of table.querySelectorAll("tbody tr")) {
    row.setAttribute("role", "row"); // a block is no row to a screen reader
    [...row.cells].forEach((cell, number) => {
      cell.setAttribute("role", "cell");
      cell.dataset.label = titles[number] || "";
      cell.classList.toggle("blank", !cell.textContent.trim() && !cell.querySelector("img"));
    });
  }
  table.setAttribute("role", "table");
}

function fitTables() {
  const tables = [...document.querySelectorAll("article table.docutils")];
  tables.forEach((table) => table.classList.remove("stacked"));
  if (!narrow.matches) return;
  const columns = (table) => (table.rows.length ? table.rows[0].cells.length : 0);
  const wide = (table) => table.parentElement.scrollWidth > table.parentElement.clientWidth + 1;
  const tall = (table) => columns(table) > 2 && [...table.rows].some((row) => row.offsetHeight > TALLEST_ROW);
  const all = tables.some(tall); // the tables of a page look alike
  for (const table of tables.filter((each) => wide(each) || (all && columns(each) > 2))) {
    label(table);
    table.classList.add("stacked");
  }
}

addEventListener("hashchange", follow);
narrow.addEventListener("change", fitTables);
follow();
listHeadings();
fitTables();
