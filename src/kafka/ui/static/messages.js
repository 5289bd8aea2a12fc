// The pages of messages: local times, copy buttons, and the live tail. The pages also work without this file.

// Shows the browser's local time; UTC stays below it.
function showLocalTimes(part) {
  for (const each of part.querySelectorAll("time[data-ms]")) {
    const ms = Number(each.dataset.ms);
    const date = new Date(ms);
    delete each.dataset.ms;
    if (Number.isNaN(date.getTime()) || date.getTimezoneOffset() === 0) continue;
    const two = (number, digits = 2) => String(number).padStart(digits, "0");
    const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
    const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${two(date.getMilliseconds(), 3)}`;
    const utc = document.createElement("span");
    utc.className = "note utc";
    utc.textContent = each.textContent;
    each.textContent = `${day} ${clock}`;
    each.title = "Local time";
    each.after(utc);
  }
}
showLocalTimes(document);
new MutationObserver((changes) => {
  for (const change of changes) for (const node of change.addedNodes) if (node.querySelectorAll) showLocalTimes(node);
}).observe(document.body, { childList: true, subtree: true });

// Fills in the time zone of the browser, in which the date pickers are meant.
const zone = document.querySelector("input[name=zone]");
if (zone && !zone.value && !new URLSearchParams(location.search).has("topic")) {
  zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
}

// Asks for the names of topics while one is typed, if the page does not have all of them.
const suggestions = document.querySelector("datalist[data-source]");
if (suggestions) {
  const field = document.querySelector(`input[list="${suggestions.id}"]`);
  let timer = 0;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const asked = field.value;
      const answer = await fetch(`${suggestions.dataset.source}?q=${encodeURIComponent(asked)}`);
      if (!answer.ok) return;
      const names = await answer.json();
      if (field.value !== asked) return;
      suggestions.replaceChildren(...names.map((name) => {
        const option = document.createElement("option");
        option.value = name;
        return option;
      }));
    }, 150);
  });
}

// Adds a button that copies the text to keys and values of a message's page.
for (const each of document.querySelectorAll("pre[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "small copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(each.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(each);
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  each.previousElementSibling.append(" ", button);
}

// The live tail. A pause closes the stream; continuing opens it at the place where it was closed.
const tail = document.querySelector("[data-tail]");
if (tail) {
  const mostRows = 500;
  const body = tail.querySelector("tbody");
  const told = tail.querySelector("[data-told]");
  const button = tail.querySelector("[data-pause]");
  let events = null;
  let place = "";
  let shown = 0;
  let skipped = 0;
  const tell = (state) => {
    const more = skipped ? `, ${skipped.toLocaleString()} more were not shown` : "";
    const none = state === "Following" && !shown && !skipped;
    told.textContent = none ? "Waiting for new messages …" : `${state}: ${shown.toLocaleString()} messages${more}`;
  };
  const begin = () => {
    const after = place ? `&after=${encodeURIComponent(place)}` : "";
    events = new EventSource(tail.dataset.tail + after);
    button.textContent = "Pause";
    button.hidden = false;
    tell("Following");
    events.addEventListener("message", (event) => {
      place = event.lastEventId || place;
      const part = document.createElement("template");
      part.innerHTML = event.data;
      const rows = [...part.content.querySelectorAll("tr")];
      for (const row of rows) {
        if (row.dataset.skipped) {
          skipped += Number(row.dataset.skipped);
          continue;
        }
        shown += 1;
        body.prepend(row);
      }
      while (body.rows.length > mostRows) body.lastElementChild.remove();
      tell("Following");
    });
    events.addEventListener("health", (event) => {
      const badge = document.querySelector("[data-health]");
      if (badge) badge.innerHTML = event.data;
    });
    events.addEventListener("silent", (event) => {
      told.textContent = `Waiting for the cluster, ${shown.toLocaleString()} messages so far. ${event.data}`;
    });
    events.addEventListener("ended", (event) => {
      end();
      told.textContent = `Ended: ${event.data}`;
    });
  };
  const end = () => {
    events?.close();
    events = null;
    button.textContent = "Continue";
  };
  button.addEventListener("click", () => {
    if (events) {
      end();
      tell("Paused");
    } else {
      begin();
    }
  });
  addEventListener("pagehide", end);
  begin();
}
