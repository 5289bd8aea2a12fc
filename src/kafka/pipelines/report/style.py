"""The style sheet of the report, for light and dark mode, wide windows, telephones, and paper.

The colours of the lines differ in brightness, and can be distinguished by people with any colour vision.
"""

from kafka.display.time_charts import CHART_STYLE
from kafka.pipelines.report.graph import GRAPH_STYLE

STYLE = (
    """
:root {
  color-scheme: light dark;
  --back: #fcfcfb; --front: #1d2125; --quiet: #5b6470; --line: #dfe2e5; --field: #ffffff; --warn: #b3261e;
  --s1: #0067a8; --s2: #c24e00; --s3: #00795a; --s4: #a0467f; --s5: #7a5c00; --s6: #3f3f46;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #16181b; --front: #e4e6e8; --quiet: #9aa3ad; --line: #32373d; --field: #1e2125; --warn: #ff9a8f;
    --s1: #6bb8f0; --s2: #ff9d52; --s3: #35c99c; --s4: #eaa5d0; --s5: #e5c453; --s6: #d4d4d8;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--front); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 80rem; margin: 0 auto; padding: 1rem 1.5rem 3rem; }
h1 { font-size: 1.5rem; font-weight: 600; margin: .6rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; font-weight: 600; margin: 2.2rem 0 .6rem; padding-top: .6rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; font-weight: 600; margin: 1.2rem 0 .4rem; overflow-wrap: anywhere; }
h4 { font-size: .85rem; font-weight: 400; margin: .6rem 0 .2rem; color: var(--quiet); }
:focus-visible { outline: 2px solid var(--s1); outline-offset: 2px; border-radius: 2px; }
.quiet, .keys, dt, .note { color: var(--quiet); }
.note { font-size: .85rem; font-weight: 400; }
p.note { margin: .2rem 0 .6rem; }
.bad { color: var(--warn); font-weight: 600; }
.trouble { border-left: 3px solid var(--warn); padding: .3rem .8rem; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; font-weight: 400; padding: .35rem 1rem .35rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
thead th { color: var(--quiet); font-size: .85rem; white-space: nowrap; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td, tbody th { max-width: 30rem; min-width: 7rem; overflow-wrap: anywhere; }
td.n { min-width: 4rem; }
.when { white-space: nowrap; }
dl { display: flex; flex-wrap: wrap; gap: .4rem 2rem; margin: 0 0 .6rem; }
dt { font-size: .85rem; }
dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.summary dd { font-size: 1.15rem; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--field);
  border: 1px solid var(--line); border-radius: 4px; padding: .5rem .8rem; margin: 0;
  max-height: 24rem; overflow: auto; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 34rem), 1fr)); gap: 1.2rem 2rem; }
figure { margin: 0; min-width: 0; }
figcaption { font-weight: 600; }
.keys { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: .2rem 0 0;
  padding: 0; font-size: .85rem; }
.keys li { overflow-wrap: anywhere; min-width: 0; }
.deads { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem;
  align-items: start; margin-top: 1rem; }
.dead { border: 1px solid var(--line); border-radius: 6px; padding: .2rem 1rem 1rem; min-width: 0; }
.dead p { margin: .2rem 0; }
.headers { margin: 0; padding-left: 1.2rem; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  main { padding: .7rem .8rem 2rem; } dl { gap: .4rem 1.2rem; } .dead { padding: 0 .7rem .7rem; }
}
@media print { pre { max-height: none; } .dead, figure { break-inside: avoid; } }
"""
    + CHART_STYLE
    + GRAPH_STYLE
)
"""The style sheet."""
