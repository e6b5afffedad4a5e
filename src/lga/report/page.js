"use strict";
// What answers to a hand: cursors on charts, a look at single evaluations, tables that are sorted and filtered.
const data = JSON.parse(document.getElementById("data").textContent);
const [LEFT, TOP, ACROSS, DOWN] = [76, 14, 468, 248];

const place = (axis, value) => {
  const bend = axis.log ? Math.log : (v) => v;
  const clipped = Math.min(Math.max(value, axis.low), axis.high);
  return (bend(clipped) - bend(axis.low)) / (bend(axis.high) - bend(axis.low));
};
const shown = (value) => (value === null ? "none" : Number(value.toPrecision(6)).toString().replace("-", "\u2212"));

const told = (axis, value) => axis.words?.[value] ?? shown(value);

const draw = (group, name, attributes) => {
  const one = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  group.append(one);
};

const pointed = (svg, event) => {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return [at.x, at.y];
};

const nearest = (count, distance) => {
  let [best, least] = [0, Infinity];
  for (let i = 0; i < count; i++) {
    const now = distance(i);
    if (now < least) [best, least] = [i, now];
  }
  return best;
};

// The last entry at or before x.
const before = (places, x) => {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low - 1;
};

const lineChart = (figure, chart) => {
  const [svg, cursor, output] = ["svg", ".cursor", "output"].map((what) => figure.querySelector(what));
  const group = svg.querySelector(".pointer");
  const [xAxis, yAxis] = chart.axes;
  const look = () => {
    const x = chart.x[Number(cursor.value)];
    const across = LEFT + ACROSS * place(xAxis, x);
    group.replaceChildren();
    draw(group, "path", { d: `M${across} ${TOP}v${DOWN}`, class: "cursor-line" });
    const parts = chart.series.map((series) => {
      const y = series.y[before(series.x ?? chart.x, x)] ?? null;
      if (y !== null) draw(group, "circle", { cx: across, cy: TOP + DOWN * (1 - place(yAxis, y)), r: 5 });
      return `${series.label} ${shown(y)}`;
    });
    output.textContent = `${xAxis.label} ${shown(x)}: ${parts.join(", ")}`;
    cursor.setAttribute("aria-valuetext", output.textContent);
  };
  cursor.addEventListener("input", look);
  svg.addEventListener("pointermove", (event) => {
    const [across] = pointed(svg, event);
    cursor.value = nearest(chart.x.length, (i) => Math.abs(LEFT + ACROSS * place(xAxis, chart.x[i]) - across));
    look();
  });
};

const evaluations = (rows) => {
  const [rank, limit, output] = ["rank", "shown", "looked-at"].map((id) => document.getElementById(id));
  const [count, last] = [rows.number.length, rows.axes.length - 1];
  const whole = document.querySelector("#parallel svg");
  const slices = [...document.querySelectorAll(".slice svg")];
  const height = (row, axis) => TOP + 20 + DOWN * (1 - place(rows.axes[axis], rows.columns[axis][row]));
  const spot = (row, axis) => [
    LEFT + ACROSS * place(rows.axes[axis], rows.columns[axis][row]),
    TOP + DOWN * (1 - place(rows.axes[last], rows.columns[last][row])),
  ];
  const look = () => {
    const row = Number(rank.value) - 1;
    const corners = rows.axes.map((_, axis) => `${LEFT + rows.apart * axis} ${height(row, axis)}`);
    const group = whole.querySelector(".pointer");
    group.replaceChildren();
    draw(group, "path", { d: `M${corners.join("L")}`, class: "looked-at" });
    slices.forEach((svg, axis) => {
      const [cx, cy] = spot(row, axis);
      svg.querySelector(".pointer").replaceChildren();
      draw(svg.querySelector(".pointer"), "circle", { cx, cy, r: 8, class: "looked-at" });
    });
    const parts = rows.axes.map((axis, at) => `${axis.label} ${told(axis, rows.columns[at][row])}`);
    output.textContent = `Rank ${row + 1}, evaluation ${rows.number[row]}: ${parts.join(", ")}`;
    rank.setAttribute("aria-valuetext", output.textContent);
  };
  const lookAt = (distance) => {
    rank.value = nearest(Number(limit.value), distance) + 1;
    look();
  };
  rank.addEventListener("input", look);
  whole.addEventListener("pointermove", (event) => {
    const [x, y] = pointed(whole, event);
    const axis = Math.min(Math.max(Math.floor((x - LEFT) / rows.apart), 0), last - 1);
    const share = (x - LEFT) / rows.apart - axis;
    lookAt((row) => Math.abs((1 - share) * height(row, axis) + share * height(row, axis + 1) - y));
  });
  slices.forEach((svg, axis) =>
    svg.addEventListener("pointermove", (event) => {
      const [x, y] = pointed(svg, event);
      lookAt((row) => Math.hypot(spot(row, axis)[0] - x, spot(row, axis)[1] - y));
    }),
  );
  limit.addEventListener("input", () => {
    const grades = (Number(limit.value) / count) * rows.grades;
    for (const one of document.querySelectorAll("[data-grade]")) {
      one.classList.toggle("hidden", Number(one.dataset.grade) >= grades);
    }
    limit.setAttribute("aria-valuetext", `${limit.value} of ${count} evaluations`);
  });
};

const sortable = (heading) => {
  const [table, place] = [heading.closest("table"), heading.cellIndex];
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = heading.textContent;
  heading.replaceChildren(button);
  const key = (row) => row.cells[place].dataset.value ?? row.cells[place].textContent;
  button.addEventListener("click", () => {
    const up = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const compare = (a, b) => (Number(a) - Number(b) || String(a).localeCompare(String(b))) * (up ? 1 : -1);
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => compare(key(a), key(b))));
  });
};

const filterable = (box) => {
  const rows = box.closest("section").querySelector("tbody").rows;
  box.addEventListener("input", () => {
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(box.value.toLowerCase());
  });
};

for (const [name, chart] of Object.entries(data.charts)) lineChart(document.getElementById(name), chart);
if (data.evaluations) evaluations(data.evaluations);
document.querySelectorAll("th[data-sort]").forEach(sortable);
document.querySelectorAll(".filter").forEach(filterable);
