/* Follows an old anchor of a guide to the chapter's page that has it now. scripts/site/chapters.py writes the marks. */
"use strict";

function follow() {
  const mark = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const page = mark && mark.dataset.page;
  if (page) {
    location.replace(new URL(page, document.baseURI).href);
  }
}

addEventListener("hashchange", follow);
follow();
