'use strict';
// The page: what a click does, tables that sort, and a live page's news.
const page = {};

page.choose = (id, centre) => {
  const node = run.nodes[id];
  if (!node) return;
  graph.chosen = id;
  if (centre) graph.centre(id);
  graph.draw();
  panel.show(node);
  history.replaceState(null, '', '#node=' + node.key);
};

// A click on a heading sorts a table of kind `sorted` by its column: as numbers where cells begin with some, once more the other way.
page.sortable = table => {
  const rows = [...table.rows].slice(1);
  const value = cell => {
    const number = parseFloat(cell.textContent);
    return Number.isNaN(number) ? cell.textContent : number;
  };
  [...table.rows[0].cells].forEach((head, column) => {
    let way = 1;
    head.addEventListener('click', () => {
      rows.sort((a, b) => {
        const [x, y] = [value(a.cells[column]), value(b.cells[column])];
        return way * (typeof x === typeof y ? d3.ascending(x, y) : typeof x === 'number' ? -1 : 1);
      });
      rows.forEach(row => row.parentNode.append(row));
      for (const other of table.rows[0].cells) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', way > 0 ? 'ascending' : 'descending');
      way = -way;
    });
  });
};
page.sort = () => document.querySelectorAll('table.sorted').forEach(page.sortable);

page.copy = () => d3.selectAll('button.copy').on('click', function() {
  navigator.clipboard.writeText(document.getElementById('command').textContent);
  d3.select(this).text('copied');
});

// What came since, once a second; the headline and the sections below the graph are made by the server, whose text is escaped there.
page.poll = () => {
  fetch('events?after=' + run.version).then(answer => answer.json()).then(news => {
    document.getElementById('live').textContent = news.state;
    if (news.head !== undefined) {
      document.getElementById('head').innerHTML = news.head;
      const rest = document.getElementById('rest');
      const open = [...rest.querySelectorAll('details')].map(fold => fold.open);
      rest.innerHTML = news.rest;
      rest.querySelectorAll('details').forEach((fold, i) => fold.open = open[i] || false);
      page.sort();
      page.copy();
    }
    if (news.run) {
      const grown = news.run.nodes.some(([id]) => !run.nodes[id]);
      const first = run.nodes.length === 0;
      run.take(news.run);
      if (first) return page.begin();
      if (grown) graph.layout();
      graph.draw();
      charts.all();
    }
  }).catch(() => {
    document.getElementById('live').textContent = 'warpath watch has ended; this page stays as it is';
  }).finally(() => setTimeout(page.poll, 1000));
};

page.begin = () => {
  charts.all();
  graph.start();
  const wanted = location.hash.match(/^#node=([0-9a-f]+)/);
  const node = wanted && run.nodes.find(n => n && n.key.startsWith(wanted[1]));
  if (node) page.choose(node.id, true);
  else panel.show(null);
  let last = document.body.clientWidth;
  window.addEventListener('resize', () => {
    if (document.body.clientWidth === last) return;
    last = document.body.clientWidth;
    charts.all();
    graph.draw();
  });
};

page.start = () => {
  page.sort();
  page.copy();
  const data = document.getElementById('data');
  if (!data) return;
  const block = JSON.parse(data.textContent);
  if (block.nodes.length > 0) {
    run.take(block);
    page.begin();
  }
  if (block.live) page.poll();
};
page.start();
