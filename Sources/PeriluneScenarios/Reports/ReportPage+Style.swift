/// The CSS and the JavaScript of a report page, for light and dark mode.
extension ReportPage {
    static let style = """
        :root { --page: #fff; --ink: #1f2328; --dim: #59636e; --line: #d1d9e0; --panel: #f6f8fa; --good: #1a7f37; --bad: #cf222e; --warn: #9a6700;
          --info: #0969da; --good-back: #dafbe1; --bad-back: #ffebe9; --info-back: #ddf4ff }
        @media (prefers-color-scheme: dark) { :root { --page: #0d1117; --ink: #e6edf3; --dim: #9198a1; --line: #30363d; --panel: #151b23;
          --good: #3fb950; --bad: #f85149; --warn: #d29922; --info: #58a6ff; --good-back: #12261e; --bad-back: #2d1517; --info-back: #10233a } }
        * { box-sizing: border-box }
        body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif }
        header { position: sticky; top: 0; z-index: 1; background: var(--page); border-bottom: 1px solid var(--line); padding: 14px 24px 6px }
        h1 { font-size: 20px; margin: 0 } header p { margin: 2px 0 8px; color: var(--dim) }
        h2 { font-size: 12px; margin: 14px 0 4px; color: var(--dim); text-transform: uppercase; letter-spacing: .05em }
        .tools { display: flex; flex-wrap: wrap; gap: 8px; align-items: center }
        input { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 6px; padding: 4px 10px; width: 260px }
        button { font: inherit; font-size: 13px; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 14px; padding: 2px 12px; margin-right: 6px; cursor: pointer }
        button[aria-pressed=false] { opacity: .45; text-decoration: line-through }
        :focus-visible { outline: 2px solid var(--info); outline-offset: 1px }
        #shown { color: var(--dim); font-size: 13px } .keys { font-size: 12px } .keys kbd { margin-left: 8px }
        kbd { border: 1px solid var(--line); border-radius: 4px; padding: 0 5px; background: var(--panel); font: 11px ui-monospace, monospace }
        main { padding: 12px 24px 60px; max-width: 1280px }
        .entry { border: 1px solid var(--line); border-radius: 6px; margin-bottom: 6px; overflow: hidden }
        .entry[hidden] { display: none }
        summary { display: flex; gap: 12px; align-items: baseline; padding: 6px 12px; cursor: pointer; list-style: none }
        summary::-webkit-details-marker { display: none }
        summary:focus-visible { outline-offset: -2px } .entry[open] > summary { background: var(--panel); border-bottom: 1px solid var(--line) }
        .mark { font: bold 12px ui-monospace, "DejaVu Sans Mono", monospace; min-width: 62px } .title { flex: 1; overflow-wrap: anywhere }
        .detail { color: var(--dim); font-size: 13px; white-space: nowrap } .dim { color: var(--dim) }
        .failed > summary .mark, .deleted > summary .mark, button.failed b, button.deleted b { color: var(--bad) }
        .passed > summary .mark, .inserted > summary .mark, button.passed b { color: var(--good) }
        .skipped > summary .mark, .flaky > summary .mark, button.flaky b { color: var(--warn) }
        .changed > summary .mark, .statement > summary .mark { color: var(--info) }
        .entry.failed { border-left: 4px solid var(--bad) } .entry.flaky { border-left: 4px solid var(--warn) }
        .body { padding: 2px 16px 14px } .failure { border-left: 3px solid var(--bad); padding-left: 12px; margin: 10px 0 }
        .message { color: var(--bad); font-weight: 600; white-space: pre-wrap } .place { color: var(--info); font-size: 13px }
        pre, code { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace }
        pre { background: var(--panel); border-radius: 6px; padding: 8px 12px; margin: 4px 0; overflow-x: auto } code { white-space: pre-wrap; overflow-wrap: anywhere }
        .lines > * { display: block; text-decoration: none; padding: 0 12px; margin: 0 -12px } .lines > :empty::after { content: " " }
        ins { background: var(--good-back); color: var(--good); text-decoration: none } del { background: var(--bad-back); color: var(--bad) }
        .lines del { text-decoration: none } mark { background: var(--bad-back); color: var(--bad) }
        .wide { overflow-x: auto } table { border-collapse: collapse; font-size: 13px; margin: 4px 0 }
        th, td { border: 1px solid var(--line); padding: 3px 9px; text-align: left; vertical-align: top } thead th { background: var(--panel) }
        .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
        .time { display: block; padding: 0 3px; background: linear-gradient(to left, var(--info-back) var(--part), transparent var(--part)) }
        tr.insert { background: var(--good-back) } tr.delete { background: var(--bad-back) } td.changed { background: var(--info-back) }
        .plan { margin: 4px 0 0; font-size: 12px } .steps { margin: 4px 0; padding-left: 22px } .steps .bad, p.bad { color: var(--bad) }
        .timeline { margin: 4px 0 4px 8px; padding-left: 44px; border-left: 2px solid var(--line); font-size: 13px; max-height: 420px; overflow-y: auto }
        .timeline li::marker { color: var(--dim) } .timeline li.good::marker { color: var(--good) } .timeline li.bad, .timeline li.bad::marker { color: var(--bad) }
        td { overflow-wrap: anywhere; min-width: 5em; max-width: 40em } .number { min-width: 0 }
        @media (max-width: 700px) {
          header { position: static; padding: 10px 12px 6px } main { padding: 8px 8px 40px } .keys { display: none } input { width: 100% }
          summary { flex-wrap: wrap; gap: 2px 12px } .title { flex: 1 1 60% } .detail { white-space: normal } .body { padding: 2px 8px 10px }
        }
        @media print { header { position: static } .tools, .keys { display: none } }
        """

    static let script = """
        'use strict';
        const entries = [...document.querySelectorAll('.entry')], search = document.getElementById('search');
        const buttons = [...document.querySelectorAll('button[data-kind]')], shown = document.getElementById('shown');
        const texts = new Map(entries.map(entry => [entry, entry.textContent.toLowerCase()]));
        const visible = () => entries.filter(entry => !entry.hidden);
        function update() {
          const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
          const hidden = new Set(buttons.filter(b => b.getAttribute('aria-pressed') === 'false').map(b => b.dataset.kind));
          for (const entry of entries) entry.hidden = hidden.has(entry.dataset.kind) || !words.every(word => texts.get(entry).includes(word));
          shown.textContent = visible().length + ' of ' + entries.length;
        }
        function toggle(button) {
          button.setAttribute('aria-pressed', button.getAttribute('aria-pressed') === 'false');
          update();
        }
        function move(step) {
          const list = visible(), at = list.indexOf(document.activeElement.closest ? document.activeElement.closest('.entry') : null);
          const next = list[at < 0 ? (step > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + step, 0), list.length - 1)];
          if (next) { next.querySelector('summary').focus(); next.scrollIntoView({ block: 'nearest' }); }
        }
        search.addEventListener('input', update);
        for (const button of buttons) button.addEventListener('click', () => toggle(button));
        document.addEventListener('keydown', event => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          if (event.key === 'Escape') { search.value = ''; search.blur(); update(); return; }
          if (event.target === search) { if (event.key === 'Enter') move(1); return; }
          const number = Number(event.key);
          if (event.key === '/') search.focus();
          else if (event.key === 'j' || event.key === 'ArrowDown') move(1);
          else if (event.key === 'k' || event.key === 'ArrowUp') move(-1);
          else if (event.key === 'e' || event.key === 'c') for (const entry of visible()) entry.open = event.key === 'e';
          else if (number >= 1 && number <= buttons.length) toggle(buttons[number - 1]);
          else return;
          event.preventDefault();
        });
        function openTarget() {
          const target = location.hash && document.getElementById(location.hash.slice(1));
          if (target) { target.open = true; target.scrollIntoView(); }
        }
        window.addEventListener('hashchange', openTarget);
        // What a closed entry holds is printed, too.
        window.addEventListener('beforeprint', () => { for (const entry of visible()) entry.open = true; });
        update(); openTarget();
        """
}
