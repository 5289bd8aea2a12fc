// Updates the live part of a page from an event stream. The server has escaped its HTML.
const live = document.querySelector("[data-live]");
if (live) {
  const events = new EventSource(live.dataset.live);
  events.onmessage = (event) => {
    if (live.contains(document.activeElement) || !getSelection().isCollapsed) return;
    live.innerHTML = event.data;
  };
  addEventListener("pagehide", () => events.close());
}
