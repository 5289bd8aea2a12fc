/* What pages do by themselves: follow old anchors, and read well on narrow screens. The looks are in site.css.

Old anchors: a guide that was split leads to the chapter that has the anchor now; scripts/site/chapters.py writes the
marks. Narrow screens: a list of the page's headings below its title, because the theme's is behind an icon, and tables
that do not fit, or whose names would break inside a word, become a block for each row, with the titles of the columns
before the cells. Options such as --dry-run never break at their hyphens. */
"use strict";

const FEWEST_HEADINGS = 4; // for a list of them
const TALLEST_ROW = 140; // in pixels, of a table with three or more columns that stays a table
const LONGEST_WHOLE = 30; // in characters, of an option that never breaks
const pen = document.createElement("canvas").getContext("2d"); // measures texts
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

/* Whether a name in the first column is wider than the column, and would break inside a word. */
function breaksNames(table) {
  return [...table.querySelectorAll("tbody td:first-child code")].some((code) => {
    const style = getComputedStyle(code);
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const room = code.closest("td").clientWidth - parseFloat(getComputedStyle(code.closest("td")).paddingRight);
    return code.textContent.split(/\s+/).some((word) => pen.measureText(word).width > room);
  });
}

function keepOptionsWhole() {
  for (const word of document.querySelectorAll("article code.literal > .pre")) {
    if (/^--?[a-z][\w-]*,?$/.test(word.textContent) && word.textContent.length < LONGEST_WHOLE) word.classList.add("whole");
  }
}

function fitTables() {
  const tables = [...document.querySelectorAll("article table.docutils")];
  for (const table of tables) {
    table.classList.remove("stacked");
    table.classList.toggle("whole-words", !narrow.matches);
  }
  const columns = (table) => (table.rows.length ? table.rows[0].cells.length : 0);
  const wide = (table) => table.parentElement.scrollWidth > table.parentElement.clientWidth + 1;
  if (!narrow.matches) {
    tables.filter(wide).forEach((table) => table.classList.remove("whole-words"));
    return;
  }
  const tall = (table) => columns(table) > 2 && [...table.rows].some((row) => row.offsetHeight > TALLEST_ROW);
  const all = tables.some(tall); // the tables of a page look alike
  for (const table of tables.filter((each) => wide(each) || breaksNames(each) || (all && columns(each) > 2))) {
    label(table);
    table.classList.add("stacked");
  }
}

addEventListener("hashchange", follow);
narrow.addEventListener("change", fitTables);
follow();
listHeadings();
keepOptionsWhole();
fitTables();
