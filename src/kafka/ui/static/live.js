// Small conveniences of the pages, which also work without this file.

// Updates the live part of a page from an event stream. The server has escaped its HTML.
const live = document.querySelector("[data-live]");
if (live) {
  const events = new EventSource(live.dataset.live);
  const isBusy = () => {
    const active = document.activeElement;
    const isTyping = live.contains(active) && active.matches("input, select, textarea");
    return isTyping || !getSelection().isCollapsed || live.querySelector("details[open]") !== null;
  };
  const badge = document.querySelector("[data-health]");
  events.onmessage = (event) => {
    const sent = document.createElement("template");
    sent.innerHTML = event.data;
    const health = sent.content.querySelector("template[data-health]");
    if (health && badge && badge.innerHTML !== health.innerHTML) badge.innerHTML = health.innerHTML;
    health?.remove();
    if (isBusy()) return;
    const active = live.contains(document.activeElement) ? document.activeElement : null;
    const places = [...live.querySelectorAll(".wide")].map((each) => each.scrollLeft);
    const at = active ? [...live.querySelectorAll(active.localName)].indexOf(active) : -1;
    live.replaceChildren(sent.content);
    live.querySelectorAll(".wide").forEach((each, index) => { each.scrollLeft = places[index] ?? 0; });
    if (active) live.querySelectorAll(active.localName)[at]?.focus({ preventScroll: true });
  };
  addEventListener("pagehide", () => events.close());
}

// "/" moves to the search of the page; Escape closes an open menu.
addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    const open = document.querySelector("header details[open]");
    if (open) {
      open.open = false;
      open.querySelector("summary").focus();
    }
  }
  const search = document.querySelector("[data-search]");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || !search) return;
  if (document.activeElement.matches("input, select, textarea")) return;
  event.preventDefault();
  search.focus();
  search.select();
});

// A click outside of an open menu closes it.
addEventListener("click", (event) => {
  for (const each of document.querySelectorAll("header details[open]")) {
    if (!each.contains(event.target)) each.open = false;
  }
});
