/* What pages do by themselves: follow old anchors, and read well on narrow screens. The looks are in site.css.

Old anchors: a guide that was split leads to the chapter that has the anchor now; scripts/site/chapters.py writes the
marks. Narrow screens: a list of the page's headings below its title, because the theme's is behind an icon, and tables
that do not fit, or whose names would break inside a word, become a block for each row, with the titles of the columns
before the cells. Tables of a page with the same titles have columns of the same width, and short cells do not wrap.
Options such as --dry-run never break at their hyphens, and long names break at their dots. A picture leads to its full
size. The search page has a field above its results. */
"use strict";

const FEWEST_LINKS = 3; // of a list of headings: one to the title, and two more
const SHORTEST_LISTED = 3; // in windows, of a page with such a list
const TALLEST_ROW = 140; // in pixels, of a table with three or more columns that stays a table
const LONGEST_WHOLE = 30; // in characters, of an option that never breaks
const SHORTEST_BROKEN = 16; // in characters, of a name that may break after its dots
const LONGEST_SHORT = { wide: 18, narrow: 9 }; // in characters, of a cell that does not wrap
const WIDTHS = { tests: "30%" }; // by title of a column with long file names: its width, which leaves room for the others
const CODE_PADDING = 8; // in pixels, of code in a text, with some to spare
const pen = document.createElement("canvas").getContext("2d"); // measures texts
const narrow = matchMedia("(max-width: 640px)");

function follow() {
  const mark = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const page = mark && mark.dataset.page;
  if (page) {
    location.replace(new URL(page, document.baseURI).href);
  }
}

/* A closed list costs one line. It is worth that where headings are out of sight: three screens are scrolled through as
   fast as a list is opened and read, but on a longer page even two headings save a search. */
function listHeadings() {
  const tree = document.querySelector(".toc-tree");
  const title = document.querySelector("article h1");
  if (!tree || !title || tree.querySelectorAll("a").length < FEWEST_LINKS) return;
  const list = document.createElement("details");
  list.className = "on-this-page";
  list.innerHTML = "<summary>On this page</summary>";
  list.append(...[...tree.children].map((each) => each.cloneNode(true)));
  title.after(list);
  list.addEventListener("click", (event) => { if (event.target.closest("a")) list.open = false; });
}

function showList() {
  const list = document.querySelector(".on-this-page");
  if (list) list.hidden = document.documentElement.scrollHeight < SHORTEST_LISTED * innerHeight;
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

/* The width of a text in the font of an element, and that of the longest line that fits an element, in pixels. */
function widthOf(text, element) {
  const style = getComputedStyle(element);
  pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  return pen.measureText(text).width;
}
function roomIn(element) {
  const style = getComputedStyle(element);
  return element.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - CODE_PADDING;
}

/* Whether a name is wider than its column, and would break inside a word. */
function breaksNames(table) {
  return [...table.querySelectorAll("tbody td code")].some((code) => {
    const cell = code.closest("td");
    const names = code.textContent.split(/\s+/).filter((word) => cell === cell.parentElement.cells[0] || /^\w+$/.test(word));
    return names.some((word) => widthOf(word, code) > roomIn(cell));
  });
}

/* Words of commands, such as --dry-run, do not break at their hyphens where long commands wrap. */
function keepWordsWhole() {
  for (const block of document.querySelectorAll(".highlight-sh pre, .highlight-shell pre")) {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts.filter((each) => each.data.includes("-"))) {
      const parts = text.data.split(/([^\s-]*-\S+)/);
      text.replaceWith(...parts.map((part, number) => {
        if (number % 2 === 0 || part.length > LONGEST_WHOLE) return part;
        const whole = document.createElement("span");
        whole.className = "whole";
        whole.textContent = part;
        return whole;
      }));
    }
  }
}

/* Names that are longer than a line break after a dot, a slash or an underscore, not in the middle of a word. Names in
   bold, such as those of exceptions, also break before a capital. */
function offerBreaks() {
  for (const word of document.querySelectorAll("article :is(code.literal > .pre, .highlight-properties span, dd strong)")) {
    const places = word.matches("strong") ? /(?<=[a-z_.])(?=[A-Z])|(?<=_)/ : /(?<=[_/=,(|]|\.(?!\w{1,4}$))(?=\w)/; // not before .py
    const parts = word.textContent.split(places);
    if (word.matches(".highlight-properties .o")) word.after(document.createElement("wbr"));
    if (word.textContent.length < SHORTEST_BROKEN || word.childElementCount || parts.length < 2) continue;
    if (widthOf(word.textContent, word) < roomIn(word.closest("td, li, p, pre, h1, h2, h3, h4, dd") || document.body)) continue;
    word.replaceChildren(...parts.flatMap((part, number) => (number ? [document.createElement("wbr"), part] : [part])));
  }
}

/* A comment behind a command wraps as a whole, and is indented there, so that it does not seem to be about the next one. */
function markComments() {
  for (const comment of document.querySelectorAll(":is(.highlight-sh, .highlight-shell) .c1")) {
    let line = "";
    for (let each = comment.previousSibling; each && !line.includes("\n"); each = each.previousSibling) {
      line = each.textContent + line;
    }
    comment.classList.toggle("trailing", /\S[^\n]*$/.test(line));
  }
}

/* A picture leads to its full size. */
function linkPictures() {
  for (const picture of document.querySelectorAll("article img")) {
    if (picture.closest("a")) continue;
    const link = document.createElement("a");
    link.href = picture.src;
    picture.replaceWith(link);
    link.append(picture);
  }
}

function keepOptionsWhole() {
  for (const word of document.querySelectorAll("article code.literal > .pre")) {
    if (/^--?[a-z][\w-]*,?$/.test(word.textContent) && word.textContent.length < LONGEST_WHOLE) word.classList.add("whole");
  }
}

/* A field above the results, because the theme's is behind a menu on phones; and a title if nothing was asked yet. */
function showField() {
  const results = document.getElementById("search-results");
  if (!results) return;
  const asked = new URLSearchParams(location.search).get("q") || "";
  const form = document.createElement("form");
  form.className = "search-field";
  form.innerHTML = '<input type="search" name="q" aria-label="Search words" placeholder="Search"><button>Search</button>';
  form.elements.q.value = asked;
  if (!asked) {
    const title = document.createElement("h1");
    title.textContent = "Search";
    results.before(title);
  }
  results.before(form);
}

/* Numbers with their units, dates and other short cells stay on one line, unless their table does not fit then. */
function keepCellsWhole(tables) {
  const longest = narrow.matches ? LONGEST_SHORT.narrow : LONGEST_SHORT.wide;
  for (const cell of tables.flatMap((table) => [...table.querySelectorAll("thead ~ tbody td")])) {
    cell.classList.toggle("short", cell.textContent.trim().length <= longest && !cell.querySelector("br, img"));
  }
}

/* File names do not decide the widths of the columns: they break where offerBreaks lets them. */
function limitPaths(table) {
  for (const title of table.querySelectorAll("thead th")) {
    const width = WIDTHS[title.textContent.trim()];
    if (!width) continue;
    title.style.width = width;
    for (const row of table.tBodies[0].rows) row.cells[title.cellIndex].classList.add("paths");
  }
}

/* Tables with the same titles get the widths that one table with all of their rows would have. */
function alignTables(tables) {
  const titles = (table) => [...table.querySelectorAll("thead th")].map((each) => each.textContent.trim()).join("|");
  for (const names of new Set(tables.map(titles))) {
    const alike = tables.filter((table) => titles(table) === names);
    if (!names || alike.length < 2) continue;
    const joint = alike[0].cloneNode(true);
    joint.removeAttribute("id");
    for (const other of alike.slice(1)) joint.tBodies[0].append(...[...other.tBodies[0].rows].map((row) => row.cloneNode(true)));
    alike[0].after(joint);
    const widths = [...joint.tHead.rows[0].cells].map((cell) => cell.getBoundingClientRect().width);
    const fits = joint.offsetWidth <= joint.parentElement.clientWidth + 1;
    joint.remove();
    if (!fits) continue;
    const whole = widths.reduce((sum, each) => sum + each, 0);
    for (const table of alike) {
      const columns = document.createElement("colgroup");
      columns.append(...widths.map((width) => {
        const column = document.createElement("col");
        column.style.width = `${(100 * width) / whole}%`;
        return column;
      }));
      table.prepend(columns);
      table.classList.add("aligned");
    }
  }
}

function fitTables() {
  const tables = [...document.querySelectorAll("article table.docutils")];
  for (const table of tables) {
    table.classList.remove("stacked", "aligned");
    table.querySelectorAll("colgroup").forEach((each) => each.remove());
    table.classList.toggle("whole-words", !narrow.matches);
  }
  tables.forEach(limitPaths);
  keepCellsWhole(tables);
  const columns = (table) => (table.rows.length ? table.rows[0].cells.length : 0);
  const wide = (table) => table.parentElement.scrollWidth > table.parentElement.clientWidth + 1;
  const free = (table) => table.querySelectorAll("td.short").forEach((cell) => cell.classList.remove("short"));
  if (!narrow.matches) {
    tables.filter(wide).forEach((table) => table.classList.remove("whole-words"));
    tables.filter(wide).forEach(free);
    alignTables(tables);
    return;
  }
  tables.filter(wide).forEach(free);
  const tall = (table) => columns(table) > 2 && [...table.rows].some((row) => row.offsetHeight > TALLEST_ROW);
  const all = tables.some(tall); // the tables of a page look alike
  for (const table of tables.filter((each) => wide(each) || breaksNames(each) || (all && columns(each) > 2))) {
    label(table);
    table.classList.add("stacked");
    free(table);
  }
  alignTables(tables.filter((each) => !each.classList.contains("stacked")));
}

/* The widths were right for the window's; the theme's widths change at two more of them. */
function fitAgain() {
  clearTimeout(fitAgain.timer);
  fitAgain.timer = setTimeout(() => { fitTables(); showList(); }, 150);
}

addEventListener("hashchange", follow);
narrow.addEventListener("change", fitTables);
addEventListener("resize", fitAgain);
follow();
listHeadings();
keepOptionsWhole();
keepWordsWhole();
linkPictures();
showField();
fitTables();
markComments();
offerBreaks();
showList();
