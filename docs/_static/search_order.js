/* Which pages the search finds, in which order, and what it shows of them. It replaces three functions of Sphinx's search.

A page scores for each word of the query: most for its search words and title, less for headings, least for its text.
A word counts more if few pages have it. Pages that lack a word of the query follow those that have all of them. If the
query is the name of a method, such as "poll", its entries in the reference follow the best page.
`KEYWORDS`, the search words by page, is in the search page; they are kept in scripts/site/keywords.py.
To change the order, change `WEIGHTS` and `FACTORS`. scripts/site/finding.py checks it. */
"use strict";

const WEIGHTS = { keyword: 5, title: 4, guide: 1.5, heading: 2, text: 1, part: 0.5, phrase: 12, complete: 4 };
/* By place of a word: its share of the score. guide: the title of a guide, on the page of a chapter. part: a word that
no page has, but that begins other words. phrase: all words of an entry of KEYWORDS; some of them count as a heading's. complete: all words of a title. */
const FACTORS = [
  [/^(index|recipes\/index|names\/index)$/, 0.35], [/^CHANGES/, 0.2], [/^names\//, 0.5], [/^(KIPS|COMPATIBILITY|DESIGN)/, 0.6],
  [/^(HELPING|REPORTING|PERFORMANCE|RELIABILITY)/, 0.6], [/^(MIGRATION|SIDE_BY_SIDE)\//, 0.7], [/^COMMAND_LINE\//, 0.8],
];
/* How much the words of some pages are worth. Other pages have 1. */
const MOST_RESULTS = 40;
const FEWEST_RESULTS = 12; // if as many pages have any of the words
const LEAST_SHARE = 0.12; // of the best result's score, for more results
const MAIN_CLASSES = ["KafkaConsumer", "KafkaProducer", "KafkaAdminClient", "KafkaShareConsumer"];
/* Those whose methods the name of a method means, in this order. */
const MOST_METHODS = 2; // of these classes, for one name

const stemmer = new Stemmer();
const stems = (text) => splitQuery(text.toLowerCase()).map((word) => stemmer.stemWord(word));
const meant = (text) => splitQuery(text.toLowerCase()).filter((word) => !stopwords.has(word)).map((word) => stemmer.stemWord(word));
const numbers = (found) => (found === undefined ? [] : typeof found === "number" ? [found] : found);

/* By number of a page: its words by place. They are made once. */
let pages = null;
function prepared(index) {
  if (pages) return pages;
  pages = index.docnames.map((name, number) => {
    const title = index.titles[number] || "";
    const cut = name.includes("/") && /^[A-Z_]+\//.test(name) ? title.indexOf(": ") : -1;
    const factor = FACTORS.find(([pattern]) => pattern.test(name));
    const phrases = (KEYWORDS[name] || []).map(meant);
    return {
      name, title, phrases, number,
      own: meant(cut < 0 ? title : title.slice(cut + 2)), guide: new Set(cut < 0 ? [] : stems(title.slice(0, cut))),
      keywords: new Set(phrases.filter((each) => each.length === 1).flat()), inPhrases: new Set(phrases.flat()), headings: [], factor: factor ? factor[1] : 1,
    };
  });
  for (const [title, places] of Object.entries(index.alltitles)) {
    for (const [number, id] of places) if (id !== null) pages[number].headings.push({ title, id, words: new Set(stems(title)) });
  }
  return pages;
}

/* The pages whose text has a word: { files, exact }. */
function havingText(index, word) {
  const own = (words, name) => (Object.hasOwn(words, name) ? numbers(words[name]) : []);
  const files = new Set([...own(index.terms, word), ...own(index.titleterms, word)]);
  if (files.size || word.length < 3) return { files, exact: true };
  for (const words of [index.terms, index.titleterms]) {
    for (const name of Object.keys(words)) if (name.startsWith(word)) own(words, name).forEach((file) => files.add(file));
  }
  return { files, exact: false };
}

function scored(page, words, texts, index) {
  let score = 0, found = 0;
  for (const word of words) {
    const text = texts.get(word);
    const rare = Math.log(1 + index.docnames.length / Math.max(text.files.size, 1));
    let weight = text.files.has(page.number) ? (text.exact ? WEIGHTS.text : WEIGHTS.part) : 0;
    if (page.inPhrases.has(word) || page.headings.some((heading) => heading.words.has(word))) weight = Math.max(weight, WEIGHTS.heading);
    if (page.guide.has(word)) weight = Math.max(weight, WEIGHTS.guide);
    if (page.own.includes(word)) weight = Math.max(weight, WEIGHTS.title);
    if (page.keywords.has(word)) weight = Math.max(weight, WEIGHTS.keyword);
    if (weight) found += 1;
    score += weight * rare;
  }
  if (!found) return 0;
  score *= (found / words.length) ** 2;
  const asked = new Set(words);
  if (page.own.length && page.own.every((word) => asked.has(word))) score += WEIGHTS.complete * page.own.length;
  const phrase = page.phrases.filter((each) => each.length && each.every((word) => asked.has(word)));
  score += WEIGHTS.phrase * Math.max(0, ...phrase.map((each) => each.length));
  return score * page.factor;
}

/* The heading that has more of the words than the page's title; null if none has. */
function bestHeading(page, words) {
  const count = (has) => words.filter(has).length;
  const least = count((word) => page.own.includes(word) || page.keywords.has(word));
  let best = null, most = least;
  for (const heading of page.headings) {
    const here = count((word) => heading.words.has(word));
    if (here > most) [best, most] = [heading, here];
  }
  return best;
}

/* Names of the reference: first if the query is such a name, otherwise behind the guides. */
function objects(query, terms) {
  const isName = /^[\w.]+$/.test(query.trim()) && /[._]|[a-z][A-Z]/.test(query.trim());
  const found = isName ? Search.performObjectSearch(query.trim().toLowerCase(), new Set()) : [...terms].flatMap((term) => Search.performObjectSearch(term, terms));
  const ends = (name) => `.${name.toLowerCase()}`.endsWith(`.${query.trim().toLowerCase()}`);
  const asynchronous = (name) => /\.Async/.test(name); // behind the class without that prefix
  const score = (each) => (isName ? 1000 + each[4] + (ends(each[1]) ? 100 : 0) - asynchronous(each[1]) : each[4] / 1000);
  return found.map((each) => [...each.slice(0, 4), score(each), ...each.slice(5)]);
}

/* The methods of the main classes that have the query as their name: the results that they are in the reference. */
function methods(query) {
  const name = query.trim().toLowerCase().replace(/\(\)$/, "");
  if (!/^\w+$/.test(name)) return [];
  const found = Search.performObjectSearch(name, new Set());
  const ofClass = (each) => found.filter((result) => result[1].toLowerCase() === `kafka.${each}.${name}`.toLowerCase());
  return MAIN_CLASSES.flatMap(ofClass).slice(0, MOST_METHODS);
}

Search._performSearch = (query, searchTerms, excludedTerms, highlightTerms, objectTerms) => {
  const index = Search._index;
  _removeChildren(document.getElementById("search-progress"));
  const asked = meant(query);
  const words = [...new Set(asked.length ? asked : stems(query))];
  if (!words.length) return [];
  const texts = new Map(words.map((word) => [word, havingText(index, word)]));
  const results = prepared(index).map((page) => {
    const heading = bestHeading(page, words);
    const title = heading ? `${page.title} > ${heading.title}` : page.title;
    return [page.name, title, heading ? `#${heading.id}` : "", null, scored(page, words, texts, index), index.filenames[page.number], "text"];
  });
  results.sort((one, other) => other[4] - one[4]);
  const least = results[0][4] * LEAST_SHARE;
  const kept = results.filter((each, place) => each[4] > 0 && (place < FEWEST_RESULTS || each[4] >= least));
  kept.push(...new Map(objects(query, objectTerms).map((each) => [each[0] + each[2], each])).values());
  kept.sort((one, other) => other[4] - one[4] || one[1].localeCompare(other[1]));
  const named = methods(query);
  const place = (each) => each[0] + each[2];
  const others = kept.filter((each) => !named.some((one) => place(one) === place(each)));
  others.splice(1, 0, ...named);
  return others.slice(0, MOST_RESULTS).reverse(); // the page takes the best from the end
};

/* The paragraph with most of the words; the first one if none has more of them than the title. */
Search.makeSearchSummary = (htmlText, words, anchor) => {
  const page = new DOMParser().parseFromString(htmlText, "text/html").querySelector('[role="main"]');
  const section = (anchor && page && page.querySelector(`[id="${CSS.escape(anchor.slice(1))}"]`)) || page;
  if (!section) return null;
  const title = section.querySelector("h1, h2, h3, h4");
  const titled = new Set(title ? stems(title.textContent) : []);
  section.querySelectorAll("h1, h2, h3, h4, .headerlink, .on-this-page, script, style, pre, button").forEach((each) => each.remove());
  const parts = [...section.querySelectorAll("p, li, dd, td")].filter((each) => !each.querySelector("p, li, dd, td"));
  const paragraphs = parts.map((each) => each.textContent.replace(/\s+/g, " ").trim()).filter((text) => text.length > 25);
  let best = paragraphs[0] || "", most = [...words].filter((word) => titled.has(word)).length;
  for (const text of paragraphs) {
    const has = new Set(stems(text));
    const count = [...words].filter((word) => has.has(word)).length;
    if (count > most) [best, most] = [text, count];
  }
  const summary = document.createElement("p");
  summary.className = "context";
  summary.textContent = best.length > 240 ? `${best.slice(0, 240).replace(/\s\S*$/, "")} ...` : best;
  return summary;
};
