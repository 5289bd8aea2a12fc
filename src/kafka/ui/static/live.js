// Puts the newest state of a page in its place. The server has escaped it.
const live = document.querySelector("[data-live]");
if (live) {
  const events = new EventSource(live.dataset.live);
  events.onmessage = (event) => {
    if (live.contains(document.activeElement) || !getSelection().isCollapsed) return;
    live.innerHTML = event.data;
  };
  addEventListener("pagehide", () => events.close());
}
