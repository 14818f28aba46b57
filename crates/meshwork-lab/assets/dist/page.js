"use strict";
(() => {
  // plot/numbers.js
  function grouped(text2) {
    const [whole2, part] = text2.split(".");
    const far = whole2.replace(/\B(?=(\d{3})+$)/g, ",");
    return part ? `${far}.${part}` : far;
  }
  function digits(number2, most) {
    return String(Number(number2.toPrecision(most))).replace("-", "−");
  }
  function tick(number2) {
    const size = Math.abs(number2);
    for (
      const [power, letter] of
      /** @type {[number, string][]} */
      [[1e12, "T"], [1e9, "B"], [1e6, "M"]]
    ) {
      if (size >= power) return grouped(digits(number2 / power, 4)) + letter;
    }
    if (size > 0 && size < 1e-4) return number2.toExponential().replaceAll("-", "−");
    return grouped(digits(number2, 6));
  }
  function brief(number2) {
    const size = Math.abs(number2);
    if (size > 0 && (size < 1e-4 || size >= 1e15)) return number2.toExponential(3).replaceAll("-", "−").replace("+", "");
    return grouped(size >= 1e5 ? String(Math.round(number2)).replace("-", "−") : digits(number2, 5));
  }
  function fixed(number2, decimals) {
    const power = 10 ** decimals;
    return grouped((Math.floor(number2 * power + 0.5) / power).toFixed(decimals).replace("-", "−"));
  }
  function rounded(mean, half) {
    if (half === null) return brief(mean);
    const decimals = 1 - Math.floor(Math.log10(half));
    if (!(half > 0) || decimals > 6 || Math.abs(mean) >= 1e15) return `${brief(mean)} ± ${brief(half)}`;
    return `${fixed(mean, Math.max(0, decimals))} ± ${fixed(half, Math.max(0, decimals))}`;
  }
  function linearTicks(from, until, about) {
    const span = until - from;
    if (!(span > 0)) return [from];
    const raw = span / Math.max(1, about);
    const power = Math.floor(Math.log10(raw));
    const error = raw / 10 ** power;
    const factor = error >= Math.sqrt(50) ? 10 : error >= Math.sqrt(10) ? 5 : error >= Math.SQRT2 ? 2 : 1;
    const at2 = (k) => power < 0 ? k * factor / 10 ** -power : k * factor * 10 ** power;
    const ticks2 = [];
    for (let k = Math.ceil(from / at2(1) - 1e-9); at2(k) <= until + at2(1) * 1e-9; k += 1) ticks2.push(at2(k) + 0);
    return ticks2;
  }
  var SETS = (
    /** @type {[number[], number][]} */
    [
      [[1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9], 1],
      [[1, 2, 3, 5, 7], 1],
      [[1, 2, 5], 1],
      [[1, 3], 1],
      [[1], 1],
      [[1], 2],
      [[1], 3],
      [[1], 10]
    ]
  );
  function logTicks(from, until, most) {
    const [first, last] = [Math.floor(Math.log10(from)), Math.ceil(Math.log10(until))];
    for (const [marks, step] of SETS) {
      const ticks2 = [];
      for (let power = first; power <= last; power += 1) {
        if (power % step !== 0) continue;
        for (const mark2 of marks) {
          const number2 = power < 0 ? mark2 / 10 ** -power : mark2 * 10 ** power;
          if (number2 >= from && number2 <= until) ticks2.push(number2);
        }
      }
      if (ticks2.length <= most) return ticks2;
    }
    return [];
  }

  // plot/svg.js
  function escaped(text2) {
    return text2.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  }
  function at(length) {
    const rounded2 = Math.floor(length * 100 + 0.5) / 100;
    return String(rounded2 === 0 ? 0 : rounded2);
  }
  var SIZE = 12;
  function wide(text2, size = SIZE) {
    let sum = 0;
    for (const letter of text2) {
      if ("ijl.,:;'|!()[]tfr -".includes(letter)) sum += 0.36;
      else if ("mwMW—…%±−+=<>".includes(letter)) sum += 0.92;
      else if (letter >= "A" && letter <= "Z") sum += 0.72;
      else sum += 0.63;
    }
    return sum * size;
  }
  function shortened(text2, room, size = SIZE) {
    if (wide(text2, size) <= room) return text2;
    const letters = [...text2];
    while (letters.length > 1 && wide(`${letters.join("")}…`, size) > room) letters.pop();
    return `${letters.join("").trimEnd()}…`;
  }
  function line([x1, y1, x2, y2], stroke, width2 = 1, more = "") {
    return `<line x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}" stroke="${stroke}" stroke-width="${at(width2)}"${more}/>
`;
  }
  function rect([x, y, width2, height], fill3, more = "") {
    return `<rect x="${at(x)}" y="${at(y)}" width="${at(Math.max(0, width2))}" height="${at(Math.max(0, height))}" fill="${fill3}"${more}/>
`;
  }
  function text([x, y], words, fill3, anchor = "start", more = "") {
    return `<text x="${at(x)}" y="${at(y)}" fill="${fill3}" text-anchor="${anchor}"${more}>${escaped(words)}</text>
`;
  }
  function path(pieces, stroke, width2) {
    const drawn = pieces.filter((piece) => piece.length > 1);
    if (drawn.length === 0) return "";
    const d = drawn.map((piece) => piece.map(([x, y], i) => `${i === 0 ? "M" : "L"}${at(x)} ${at(y)}`).join("")).join("");
    return `<path d="${d}" fill="none" stroke="${stroke}" stroke-width="${at(width2)}" stroke-linejoin="round"/>
`;
  }
  var SHAPES = (
    /** @type {number[][][]} */
    [
      [],
      [[-0.89, -0.89], [0.89, -0.89], [0.89, 0.89], [-0.89, 0.89]],
      [[0, -1.25], [1.15, 0.8], [-1.15, 0.8]],
      [[0, -1.35], [1.05, 0], [0, 1.35], [-1.05, 0]],
      [[0, -1.4], [0.33, -0.45], [1.33, -0.43], [0.53, 0.17], [0.82, 1.13], [0, 0.56], [-0.82, 1.13], [-0.53, 0.17], [-1.33, -0.43], [-0.33, -0.45]],
      [[0, 1.25], [1.15, -0.8], [-1.15, -0.8]],
      [[-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]],
      [[0.6, -1.04], [1.2, 0], [0.6, 1.04], [-0.6, 1.04], [-1.2, 0], [-0.6, -1.04]],
      [[-0.57, -1.13], [0, -0.57], [0.57, -1.13], [1.13, -0.57], [0.57, 0], [1.13, 0.57], [0.57, 1.13], [0, 0.57], [-0.57, 1.13], [-1.13, 0.57], [-0.57, 0], [-1.13, -0.57]],
      [[0, -1.2], [1.14, -0.37], [0.71, 0.97], [-0.71, 0.97], [-1.14, -0.37]]
    ]
  );
  var COLOURS = SHAPES.length;
  function mark(number2, [x, y], radius, stroke, fill3, more = "") {
    const shape = SHAPES[number2 % COLOURS];
    const paint = `fill="${fill3}" stroke="${stroke}" stroke-width="1.5"${more}/>
`;
    if (shape.length === 0) return `<circle cx="${at(x)}" cy="${at(y)}" r="${at(radius)}" ${paint}`;
    const corners = shape.map(([dx, dy]) => `${at(x + dx * radius)},${at(y + dy * radius)}`).join(" ");
    return `<polygon points="${corners}" ${paint}`;
  }

  // plot/view.js
  function pointsOf(view) {
    return view.series.flatMap((series) => series.x.map((x, i) => {
      const mean = series.mean[i], half = series.half?.[i] ?? null;
      return {
        x,
        mean,
        half,
        low: mean - (half ?? 0),
        high: mean + (half ?? 0),
        replications: series.replications?.[i] ?? 0,
        name: series.name,
        colour: series.colour,
        panel: series.panel
      };
    }));
  }
  var isClear = (point) => point.half !== null && Math.abs(point.mean) > point.half;
  var isPartial = (view, point) => view.expected !== void 0 && point.replications > 0 && point.replications < view.expected;
  var placeOf = (view, x) => view.x.names?.length ? view.x.names[x] : String(x);
  var labelOf = (scale2) => scale2.unit ? `${scale2.label} (${scale2.unit})` : scale2.label;
  function canBeLog(view) {
    if (view.differences || view.fixed) return false;
    if (view.style === "steps") return view.series.some((series) => series.x.some((x) => x > 0));
    return view.series.every((series) => series.mean.every((mean) => mean > 0));
  }
  var isLog = (view) => (view.style === "steps" ? view.x.log : view.y.log) ?? false;
  function padded(low, high) {
    const room = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
    return [low === 0 ? 0 : low - room, high === 0 ? 0 : high + room];
  }
  function extent(numbers) {
    let [least, most] = [Infinity, -Infinity];
    for (const number2 of numbers) {
      least = Math.min(least, number2);
      most = Math.max(most, number2);
    }
    return [least, most];
  }
  function measured(view, points, log) {
    const [least, most] = extent(points.map((point) => point.mean));
    if (view.style === "steps") return [Math.min(least, 0), most > 0 && most <= 1 ? 1 : most * 1.05 || 1];
    const [low, high] = [extent(points.map((point) => point.low))[0], extent(points.map((point) => point.high))[1]];
    if (log) {
      const positive = extent(points.map((point) => point.low > 0 ? point.low : point.mean))[0];
      return [Math.max(Math.min(positive, least), least / 3) / 1.1, Math.min(high, most * 3) * 1.1];
    }
    const spread = Math.max(most, 0) - Math.min(least, 0) || Math.abs(most) || 1;
    const from = Math.max(low, least - spread / 2, least >= 0 && !view.differences ? 0 : -Infinity);
    const until = Math.min(high, most + spread / 2);
    if (view.differences || view.style === "rows") return padded(Math.min(from, 0), Math.max(until, 0));
    return from > 0 && least < 0.6 * most ? padded(0, until) : padded(from, until);
  }
  function along(view, points, log) {
    const all = view.x.grid?.length ? view.x.grid : points.map((point) => point.x);
    const [least, most] = extent(log ? all.filter((x) => x > 0) : all);
    if (least < most) return [least, most];
    return log ? [least / 2, most * 2] : [least - 0.5, most + 0.5];
  }
  function scale([from, until], [first, last], log) {
    const of = log ? Math.log10 : (number2) => number2;
    return (number2) => {
      const inside = Math.min(Math.max(number2, from), until);
      return first + (last - first) * (of(inside) - of(from)) / (of(until) - of(from));
    };
  }

  // plot/panel.js
  var SMALL = 11;
  var SMALLER = ' font-size="11"';
  function common(view, log) {
    const points = pointsOf(view);
    return { points, log, domain: measured(view, points, log) };
  }
  function panelOf(view, common2, panel, width2, theme2) {
    const points = common2.points.filter((point) => point.panel === panel);
    if (view.style === "rows") return rowsOf(view, common2, points, width2, theme2);
    return curvesOf(view, common2, points, width2, theme2);
  }
  var colourOf = (theme2, number2) => theme2.colours[number2 % COLOURS];
  function look(view, point, colour2, theme2) {
    const fill3 = view.differences && !isClear(point) ? theme2.paper : colour2;
    return { fill: fill3, more: isPartial(view, point) ? ' opacity="0.45"' : "" };
  }
  function ticksAlong(view, points, log, domain, width2) {
    if (view.style === "lines") {
      const all = view.x.grid?.length ? view.x.grid : points.map((point) => point.x);
      const values = [...new Set(all)].sort((a, b) => a - b);
      const place2 = scale(domain, [0, width2], log);
      let room = Infinity;
      for (let i = 1; i < values.length; i += 1) {
        const need = (wide(tick(values[i - 1]), SMALL) + wide(tick(values[i]), SMALL)) / 2 + 8;
        room = Math.min(room, place2(values[i]) - place2(values[i - 1]) - need);
      }
      if (room >= 0) return values;
    }
    return log ? logTicks(domain[0], domain[1], Math.max(2, Math.floor(width2 / 60))) : linearTicks(domain[0], domain[1], Math.max(2, Math.floor(width2 / 80)));
  }
  function curvesOf(view, { points: all, domain, log }, points, width2, theme2) {
    const isSteps = view.style === "steps";
    const isUpLog = log && !isSteps;
    const names2 = view.x.names ?? [];
    const isAlongLog = isSteps ? log : view.x.log ?? false;
    const height = Math.floor(Math.min(380, Math.max(230, width2 * 0.6)));
    const up = isUpLog ? logTicks(domain[0], domain[1], 8) : linearTicks(domain[0], domain[1], 6);
    const left = Math.max(30, ...up.map((number2) => wide(tick(number2), SMALL) + 14));
    const [top, bottom, right] = [26, height - 42, width2 - 18];
    const y = scale(domain, [bottom, top], isUpLog);
    const step = (right - left) / Math.max(1, names2.length);
    const reach = along(view, all, isAlongLog);
    const numbers = scale(reach, [left + 8, right - 8], isAlongLog);
    const x = (place2) => names2.length > 0 ? left + (place2 + 0.5) * step : numbers(place2);
    let svg = "";
    for (const number2 of up) {
      svg += line([left, y(number2), right, y(number2)], theme2.line);
      svg += text([left - 7, y(number2) + 4], tick(number2), theme2.soft, "end", SMALLER);
    }
    svg += line([left, bottom, right, bottom], theme2.soft);
    if (names2.length > 0) {
      const widest = Math.max(...names2.map((name2) => wide(name2, SMALL)));
      const every = Math.max(1, Math.ceil(Math.min(widest + 8, 90) / step));
      names2.forEach((name2, place2) => {
        if (place2 % every === 0) svg += text([x(place2), bottom + 17], shortened(name2, step * every - 4, SMALL), theme2.soft, "middle", SMALLER);
      });
    } else {
      for (const number2 of ticksAlong(view, all, isAlongLog, reach, right - left - 16)) {
        svg += line([x(number2), bottom, x(number2), bottom + 5], theme2.soft);
        svg += text([x(number2), bottom + 17], tick(number2), theme2.soft, "middle", SMALLER);
      }
    }
    svg += text([0, 12], labelOf(view.y), theme2.ink);
    svg += labelBelow(view.x, (left + right) / 2, height - 6, theme2);
    if (domain[0] < 0 && domain[1] > 0) svg += line([left, y(0), right, y(0)], theme2.ink);
    const colours = [...new Set(points.map((point) => point.colour))];
    const hits = [];
    for (const [order, number2] of colours.entries()) {
      const own = points.filter((point) => point.colour === number2);
      const colour2 = colourOf(theme2, number2);
      if (isSteps) {
        svg += path([stepsOf(own.map((point) => [x(point.x), y(point.mean)]))], colour2, 1.75);
      } else {
        const beside = 2 * (order - (colours.length - 1) / 2);
        for (const point of own) {
          if (!(point.half !== null && point.half > 0) || point.low > domain[1] || point.high < domain[0]) continue;
          const at2 = x(point.x) + beside;
          svg += line([at2, y(point.low), at2, y(point.high)], colour2, 1.5, ' stroke-opacity="0.55"');
        }
        svg += path(runsOf(view, own).map((run) => run.map((point) => [x(point.x), y(point.mean)])), colour2, 1.75);
        for (const point of own) {
          const { fill: fill3, more } = look(view, point, colour2, theme2);
          svg += mark(number2, [x(point.x), y(point.mean)], 3.4, colour2, fill3, more);
        }
      }
      for (const point of own) hits.push({ x: x(point.x), y: y(point.mean), point });
    }
    return { svg, width: width2, height, hits };
  }
  function labelBelow(scale2, middle, bottom, theme2) {
    const words = labelOf(scale2);
    const key = scale2.key?.includes(".") ? `<tspan dx="7" font-size="9.5" fill="${theme2.soft}">${escaped(scale2.key)}</tspan>` : "";
    return `<text x="${at(middle)}" y="${at(bottom)}" fill="${theme2.ink}" text-anchor="middle">${escaped(words)}${key}</text>
`;
  }
  function runsOf(view, points) {
    const order = view.x.grid?.length ? new Map(view.x.grid.map((x, i) => [x, i])) : null;
    const runs = (
      /** @type {Point[][]} */
      []
    );
    let before2 = -2;
    for (const point of points) {
      const place2 = order ? order.get(point.x) ?? -2 : point.x;
      if (runs.length > 0 && place2 === before2 + 1) runs[runs.length - 1].push(point);
      else runs.push([point]);
      before2 = place2;
    }
    return runs;
  }
  function stepsOf(points) {
    return points.flatMap(([x, y], i) => i === 0 ? [[x, y]] : [[x, points[i - 1][1]], [x, y]]);
  }
  function rowsOf(view, { domain, log }, points, width2, theme2) {
    const names2 = view.x.names ?? [];
    const colours = [...new Set(points.map((point) => point.colour))].sort((a, b) => a - b);
    const isOne = !view.colour;
    const places = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
    if (view.sorted && isOne) {
      const mean = new Map(points.map((point) => [point.x, point.mean]));
      places.sort((a, b) => (mean.get(a) ?? 0) - (mean.get(b) ?? 0) || a - b);
    }
    const bar2 = isOne ? 20 : colours.length > 4 ? 14 : 17;
    const head = isOne ? 4 : 24;
    const step = bar2 * (isOne ? 1 : colours.length) + head;
    const widest = Math.max(...places.map((place2) => wide(names2[place2]))) + 10;
    const left = isOne ? Math.min(widest, width2 * 0.42) : 8;
    const said = width2 - left >= 260 ? Math.max(...points.map((point) => wide(rounded(point.mean, point.half), SMALL))) + 10 : 0;
    const right = width2 - Math.max(22, said);
    const top = 6, bottom = top + places.length * step + 4, height = bottom + 42;
    const x = scale(domain, [left, right], log);
    const isBars = !log && !view.differences;
    const zero = log ? left : x(0);
    const about = (right - left) / 70;
    const ticks2 = log ? logTicks(domain[0], domain[1], Math.max(2, Math.floor(about))) : linearTicks(domain[0], domain[1], Math.max(2, Math.floor(about)));
    let svg = "";
    for (const number2 of ticks2) {
      svg += line([x(number2), top, x(number2), bottom], theme2.line);
      svg += text([x(number2), bottom + 15], tick(number2), theme2.soft, "middle", SMALLER);
    }
    const hits = [];
    for (const [row, place2] of places.entries()) {
      const begin = top + row * step + head;
      if (isOne) svg += text([left - 10, begin + bar2 / 2 + 2], shortened(names2[place2], left - 10), theme2.ink, "end");
      else svg += text([left, begin - 6], shortened(names2[place2], width2 - left - 8), theme2.ink, "start", ' font-weight="600"');
      for (const point of points) {
        if (point.x !== place2) continue;
        const index = isOne ? 0 : colours.indexOf(point.colour);
        const number2 = isOne ? view.x.colours?.[place2] ?? point.colour : point.colour;
        const colour2 = colourOf(theme2, number2);
        const { fill: fill3, more } = look(view, point, colour2, theme2);
        const y = begin + (index + 0.5) * bar2 - (isOne ? 2 : 0);
        if (isBars) svg += rect([Math.min(zero, x(point.mean)), y - bar2 / 2 + 2, Math.abs(x(point.mean) - zero), bar2 - 4], colour2, more);
        if (point.half !== null && point.half > 0 && point.low <= domain[1] && point.high >= domain[0]) {
          svg += line([x(point.low), y, x(point.high), y], isBars ? theme2.ink : colour2, 1.5);
        }
        if (!isBars) svg += mark(number2, [x(point.mean), y], 4, colour2, fill3, more);
        if (said > 0) svg += text([right + 8, y + 4], rounded(point.mean, point.half), theme2.soft, "start", SMALLER);
        hits.push({ x: x(point.mean), y, point });
      }
    }
    if (!log) svg += line([zero, top, zero, bottom], theme2.ink);
    svg += text([(left + right) / 2, height - 8], labelOf(view.y), theme2.ink, "middle");
    return { svg, width: width2, height, hits };
  }

  // plot/figure.js
  var PAGE = {
    ink: "var(--ink)",
    soft: "var(--soft)",
    line: "var(--line)",
    paper: "var(--paper)",
    colours: Array.from({ length: COLOURS }, (_, number2) => `var(--c${number2})`)
  };
  var PAPER = {
    ink: "#23231f",
    soft: "#66655e",
    line: "#e4e1d9",
    paper: "#ffffff",
    colours: ["#2a6db3", "#c8501e", "#1a8468", "#9a4a9c", "#a97f00", "#3d9fcd", "#7c5a3a", "#6d7480", "#c12a63", "#5f7f1d"]
  };
  var FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif";
  var MARGIN = 12;
  var GAP = 24;
  var LINE = 20;
  function panelsOf(view) {
    return [...new Set(view.series.map((series) => series.panel))].sort((a, b) => a - b);
  }
  function legendOf(view) {
    return [...new Map(view.series.map((series) => [series.colour, series.name]))].sort(([a], [b]) => a - b);
  }
  var panelName = (view, panel) => view.panel ? `${view.panel.label} = ${view.panels?.[panel]}` : "";
  function figureOf(view, log, width2 = 720) {
    const theme2 = PAPER;
    const room = width2 - 2 * MARGIN;
    let y = MARGIN + 14;
    let svg = text([MARGIN, y], shortened(view.title, room, 15), theme2.ink, "start", ' font-size="15" font-weight="600"');
    y += 10;
    if (view.colour) {
      let x = MARGIN;
      y += LINE - 4;
      svg += text([x, y], view.colour.label, theme2.soft);
      x += wide(view.colour.label) + 14;
      for (const [number2, name2] of legendOf(view)) {
        const words = shortened(name2, room - 20);
        if (x + 16 + wide(words) > width2 - MARGIN) {
          x = MARGIN;
          y += LINE;
        }
        const colour2 = theme2.colours[number2 % COLOURS];
        svg += mark(number2, [x + 6, y - 4], 4, colour2, colour2);
        svg += text([x + 16, y], words, theme2.ink);
        x += 16 + wide(words) + 16;
      }
      y += 12;
    }
    const shown = panelsOf(view);
    const columns2 = shown.length > 1 && width2 >= 600 ? 2 : 1;
    const each = (room - GAP * (columns2 - 1)) / columns2;
    const all = common(view, log);
    let tallest = 0;
    for (const [i, panel] of shown.entries()) {
      if (i % columns2 === 0 && i > 0) {
        y += tallest + 14;
        tallest = 0;
      }
      const x = MARGIN + i % columns2 * (each + GAP);
      const name2 = panelName(view, panel);
      const head = name2 ? 18 : 0;
      if (name2) svg += text([x, y + 13], shortened(name2, each), theme2.ink, "start", ' font-weight="600"');
      const drawn = panelOf(view, all, panel, each, theme2);
      svg += `<g transform="translate(${at(x)} ${at(y + head)})">
${drawn.svg}</g>
`;
      tallest = Math.max(tallest, head + drawn.height);
    }
    const height = y + tallest + MARGIN;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${at(width2)}" height="${at(height)}" viewBox="0 0 ${at(width2)} ${at(height)}" font-family="${FONT}" font-size="12">
<title>${escaped(view.title)}</title>
<desc>${escaped(view.sentence)}</desc>
${rect([0, 0, width2, height], theme2.paper)}${svg}</svg>
`;
  }

  // report/dom.js
  function make(tag2, attributes = {}, ...children) {
    const element = document.createElement(tag2);
    for (const [name2, value] of Object.entries(attributes)) element.setAttribute(name2, value);
    element.append(...children);
    return element;
  }
  function find(root, selector) {
    const element = root.querySelector(selector);
    if (!(element instanceof HTMLElement)) throw new Error(`the page has no ${selector}`);
    return element;
  }

  // report/save.js
  function cell(value) {
    const text2 = value === null || value === void 0 ? "" : String(value);
    return /[",\r\n]/.test(text2) ? `"${text2.replaceAll('"', '""')}"` : text2;
  }
  function csv(rows2) {
    return rows2.map((row) => `${row.map(cell).join(",")}
`).join("");
  }
  function numbersOf(view) {
    const hasIntervals = view.series.some((series) => (series.half?.length ?? 0) > 0);
    const hasPanels = Boolean(view.panel) && panelsOf(view).length > 0;
    const heads = [hasPanels ? view.panel?.key : null, view.colour?.key, view.x.key || view.x.label, view.y.key || view.y.label, ...hasIntervals ? ["half_width", "replications"] : []];
    const rows2 = pointsOf(view).map((point) => [
      ...hasPanels ? [view.panels?.[point.panel]] : [],
      ...view.colour ? [point.name] : [],
      placeOf(view, point.x),
      point.mean,
      ...hasIntervals ? [point.half, point.replications] : []
    ]);
    return { heads: heads.filter((head) => head !== null && head !== void 0), rows: rows2 };
  }
  function hand(name2, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name2;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
  }
  function handText(name2, text2, kind) {
    hand(name2, new Blob([text2], { type: `${kind};charset=utf-8` }));
  }
  async function png(svg, fine = 3) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth * fine, image.naturalHeight * fine];
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done, fail) => canvas.toBlob((blob) => blob ? done(blob) : fail(new Error("no picture came of it")), "image/png"));
  }
  var fileName = (...parts) => parts.filter(Boolean).join("-").toLowerCase().replace(/[^\p{L}\p{N}._=]+/gu, "-").replace(/^-+|-+$/g, "");

  // report/state.js
  var listeners = (
    /** @type {(() => void)[]} */
    []
  );
  function parsed(hash) {
    return new URLSearchParams(hash.startsWith("#?") ? hash.slice(2) : "");
  }
  function recalled(name2) {
    return parsed(location.hash).get(name2);
  }
  function remember(name2, value) {
    const all = parsed(location.hash);
    if (value === null) all.delete(name2);
    else all.set(name2, value);
    const text2 = all.toString();
    const hash = text2 === "" ? "" : `#?${text2}`;
    if (hash !== location.hash) history.replaceState(history.state, "", hash === "" ? location.pathname + location.search : hash);
  }
  function onChange(call) {
    if (listeners.push(call) > 1) return;
    addEventListener("hashchange", () => {
      if (location.hash.startsWith("#?")) for (const listener of listeners) listener();
    });
  }

  // report/tip.js
  var REACH = 40;
  function told(view, point) {
    const lines = [`${view.x.label}: ${view.x.names?.length ? placeOf(view, point.x) : brief(point.x)}`];
    if (view.colour) lines.push(`${view.colour.label}: ${point.name}`);
    lines.push(`${labelOf(view.y)}: ${brief(point.mean)}${point.half === null ? "" : ` ± ${brief(point.half)}`}`);
    if (isPartial(view, point)) lines.push(`of ${point.replications} of ${view.expected} replications so far`);
    else if (point.replications > 1) lines.push(`of ${point.replications} replications`);
    return lines;
  }
  function tips(panel, svg, view, drawn) {
    const tip = make("div", { class: "tip", "aria-hidden": "true" });
    tip.hidden = true;
    panel.append(tip);
    const hide = () => tip.hidden = true;
    const show = (event) => {
      const box = svg.getBoundingClientRect();
      const size = box.width / drawn.width || 1;
      const [x, y] = [(event.clientX - box.left) / size, (event.clientY - box.top) / size];
      let [nearest, distance] = [drawn.hits[0], Infinity];
      for (const hit of drawn.hits) {
        const away = view.style === "rows" ? Math.abs(hit.y - y) : Math.hypot(hit.x - x, hit.y - y);
        if (away < distance) [nearest, distance] = [hit, away];
      }
      if (!nearest || distance > REACH) return hide();
      tip.replaceChildren(...told(view, nearest.point).map((line2) => make("span", {}, line2)));
      tip.hidden = false;
      const outer = panel.getBoundingClientRect();
      const left = Math.min(nearest.x * size + 12, outer.width - tip.offsetWidth - 2);
      const top = box.top - outer.top + nearest.y * size - tip.offsetHeight - 8;
      tip.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
    };
    svg.addEventListener("pointermove", show);
    svg.addEventListener("pointerdown", show);
    svg.addEventListener("pointerleave", hide);
  }

  // report/figures.js
  var PANEL = 290;
  var GAP2 = 24;
  var MOST_ROWS = 2e3;
  var SCALE = "scale";
  var SCALES = ["linear", "logarithmic"];
  var states = /* @__PURE__ */ new Map();
  var queue = [];
  var names = 0;
  function stateOf(element) {
    const state2 = states.get(element);
    if (!state2) throw new Error("this is no figure");
    return state2;
  }
  function viewOf(figure2, chosen) {
    const at2 = figure2.choices.map((choice) => Math.max(0, choice.values.indexOf(chosen.get(choice.key) ?? "")));
    return figure2.views.find((view) => view.at.every((index, i) => index === at2[i]));
  }
  function logOf(view, chosen) {
    const scale2 = chosen.get(SCALE);
    return canBeLog(view) && (scale2 === void 0 ? isLog(view) : scale2 === SCALES[1]);
  }
  function panelElement(view, all, panel, width2) {
    const name2 = panelName(view, panel);
    const place2 = make("div", { class: "panel" });
    if (name2) place2.append(make("p", {}, name2));
    const drawn = panelOf(view, all, panel, width2, PAGE);
    place2.insertAdjacentHTML(
      "beforeend",
      `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width2}" height="${drawn.height}" viewBox="0 0 ${width2} ${drawn.height}">${drawn.svg}</svg>`
    );
    const svg = (
      /** @type {SVGElement} */
      place2.lastElementChild
    );
    svg.setAttribute("aria-label", name2 ? `${name2}. ${view.sentence}` : view.sentence);
    tips(place2, svg, view, drawn);
    return place2;
  }
  function drawPanels(panels, view, log, width2) {
    const shown = panelsOf(view);
    const columns2 = Math.max(1, Math.min(shown.length, Math.floor((width2 + GAP2) / (PANEL + GAP2))));
    panels.style.gridTemplateColumns = `repeat(${columns2}, minmax(0, 1fr))`;
    const room = Math.floor((width2 - GAP2 * (columns2 - 1)) / columns2);
    const all = common(view, log);
    panels.replaceChildren(...shown.map((panel) => panelElement(view, all, panel, Math.max(200, room))));
  }
  function legendElement(view) {
    const key = view.colour?.label ?? "";
    const list3 = make("ul", { class: "legend", "aria-label": key }, make("li", { class: "key" }, key));
    for (const [number2, name2] of legendOf(view)) {
      const item = make("li", {}, name2);
      const colour2 = PAGE.colours[number2 % PAGE.colours.length];
      item.insertAdjacentHTML("afterbegin", `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-9 -9 18 18" aria-hidden="true">${mark(number2, [0, 0], 5.5, colour2, colour2)}</svg>`);
      list3.append(item);
    }
    return list3;
  }
  function draw(element) {
    const state2 = stateOf(element);
    state2.isWaiting = false;
    const { figure: figure2, chosen } = state2;
    const view = viewOf(figure2, chosen);
    const panels = find(element, ".panels"), legend2 = find(element, ".legends");
    const caption = find(element, "figcaption");
    const numbers = (
      /** @type {HTMLDetailsElement} */
      find(element, "details")
    );
    panels.replaceChildren();
    legend2.replaceChildren();
    numbers.hidden = find(element, ".save").hidden = !view;
    state2.width = element.clientWidth;
    if (!view) {
      caption.textContent = "Nothing was measured here, or the page would have grown too large: the files beside it have all numbers.";
      return;
    }
    if (element.parentElement) pair(element.parentElement);
    state2.width = element.clientWidth;
    const log = logOf(view, chosen);
    caption.textContent = sentenceOf(view, log);
    fillScale(element, view, log);
    if (view.colour) legend2.append(legendElement(view));
    drawPanels(panels, view, log, state2.width);
    if (numbers.open) fillNumbers(numbers, view);
  }
  function pair(home) {
    let alone = (
      /** @type {Element | null} */
      null
    );
    for (const element of home.children) {
      const state2 = states.get(element);
      if (!state2) continue;
      const view = viewOf(state2.figure, state2.chosen);
      const isWide = view !== void 0 && panelsOf(view).length > 1;
      if (isWide || alone) {
        alone?.classList.toggle("wide", isWide);
        element.classList.toggle("wide", isWide);
        alone = null;
      } else {
        alone = element;
      }
    }
    alone?.classList.add("wide");
  }
  function sentenceOf(view, log) {
    return view.sentence.replace(/ The scale is logarithmic\.$/, "") + (log ? " The scale is logarithmic." : "");
  }
  function fillNumbers(details, view) {
    const { heads, rows: rows2 } = numbersOf(view);
    const keys = heads.length - (heads.includes("half_width") ? 3 : 1);
    const head = make("tr");
    heads.forEach((text2, i) => head.append(make("th", { scope: "col", class: i < keys ? "" : "n" }, String(text2).replaceAll("_", " "))));
    const body = make("tbody");
    for (const row of rows2.slice(0, MOST_ROWS)) {
      const line2 = make("tr");
      row.forEach((value, i) => {
        const text2 = value === null || value === void 0 ? "-" : String(value);
        line2.append(i === keys - 1 ? make("th", { scope: "row" }, text2) : make("td", { class: i < keys ? "" : "n" }, text2));
      });
      body.append(line2);
    }
    const table = make("table", {}, make("caption", {}, make("span", {}, view.sentence)), make("thead", {}, head), body);
    const scroll = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The numbers of the plot" }, table);
    const more = rows2.length > MOST_ROWS ? [make("p", {}, `${rows2.length - MOST_ROWS} more rows are in the CSV.`)] : [];
    details.replaceChildren(
      /** @type {Element} */
      details.firstElementChild,
      scroll,
      ...more
    );
  }
  async function save(element, kind) {
    const { figure: figure2, chosen } = stateOf(element);
    const view = viewOf(figure2, chosen);
    if (!view) return;
    const name2 = fileName(figure2.id, ...figure2.choices.map((choice, i) => choice.values[view.at[i]]));
    if (kind === "CSV") {
      const { heads, rows: rows2 } = numbersOf(view);
      handText(`${name2}.csv`, csv([heads, ...rows2]), "text/csv");
      return;
    }
    const svg = figureOf(view, logOf(view, chosen));
    if (kind === "SVG") handText(`${name2}.svg`, svg, "image/svg+xml");
    else hand(`${name2}.png`, await png(svg));
  }
  function place(figure2) {
    const element = make("figure", { id: figure2.id });
    const kinds = ["SVG", "PNG", "CSV"].map((kind) => {
      const button = make("button", { type: "button", "aria-label": `Save ${figure2.heading} as ${kind}` }, kind);
      button.addEventListener("click", () => save(element, kind));
      return button;
    });
    element.append(
      make("h4", {}),
      make("div", { class: "choices" }),
      make("figcaption", { "aria-live": "polite" }),
      make("div", { class: "legends" }),
      make("div", { class: "panels" }),
      make("p", { class: "save" }, "Save: ", ...kinds),
      make("details", {}, make("summary", {}, "These numbers as a table"))
    );
    states.set(element, { chosen: /* @__PURE__ */ new Map(), width: 0, figure: figure2, isWaiting: false });
    const numbers = (
      /** @type {HTMLDetailsElement} */
      find(element, "details")
    );
    numbers.addEventListener("toggle", () => {
      const { figure: figure3, chosen } = stateOf(element);
      const view = viewOf(figure3, chosen);
      if (numbers.open && view) fillNumbers(numbers, view);
    });
    recall(element);
    resized.observe(element);
    return element;
  }
  var address = (figure2, key) => `${figure2.id}.${key}`;
  function recall(element) {
    const { figure: figure2, chosen } = stateOf(element);
    chosen.clear();
    for (const { key, values } of [...figure2.choices, { key: SCALE, values: SCALES }]) {
      const value = recalled(address(figure2, key));
      if (value !== null && values.includes(value)) chosen.set(key, value);
    }
  }
  function chooser(element, choice, value, first) {
    const { figure: figure2, chosen } = stateOf(element);
    const select = make("select", { id: `choice-${names += 1}`, "data-key": choice.key });
    for (const value2 of choice.values) select.append(make("option", {}, value2));
    select.value = value;
    select.addEventListener("change", () => {
      chosen.set(choice.key, select.value);
      remember(address(figure2, choice.key), select.value === first ? null : select.value);
      draw(element);
    });
    return make("label", { for: select.id }, `${choice.label} `, select);
  }
  function fillChoices(element) {
    const { figure: figure2, chosen } = stateOf(element);
    const row = find(element, ".choices");
    const active = document.activeElement;
    const had = active instanceof HTMLElement && active.closest(".choices") === row ? active.dataset.key : null;
    row.replaceChildren(...figure2.choices.map((choice) => {
      const own = chosen.get(choice.key) ?? "";
      return chooser(element, choice, choice.values.includes(own) ? own : choice.values[0], choice.values[0]);
    }), make("span", { class: "of-scale" }));
    const view = viewOf(figure2, chosen);
    if (view) fillScale(element, view, logOf(view, chosen));
    if (had) row.querySelector(`[data-key="${CSS.escape(had)}"]`)?.focus();
  }
  function fillScale(element, view, log) {
    const place2 = find(element, ".of-scale");
    if (!canBeLog(view)) return place2.replaceChildren();
    const first = SCALES[Number(isLog(view))], value = SCALES[Number(log)];
    const select = place2.querySelector("select");
    if (select?.dataset.first === first) {
      select.value = value;
      return void 0;
    }
    const label = chooser(element, { key: SCALE, label: SCALE, values: SCALES }, value, first);
    find(label, "select").dataset.first = first;
    return place2.replaceChildren(label);
  }
  function next() {
    const element = queue.shift();
    if (element?.isConnected && stateOf(element).isWaiting) draw(element);
    if (queue.length === 0) return;
    if ("requestIdleCallback" in window) requestIdleCallback(next, { timeout: 100 });
    else setTimeout(next, 1);
  }
  function drawRest() {
    for (const element of queue.splice(0)) if (element.isConnected && stateOf(element).isWaiting) draw(element);
  }
  function drawFor(element, width2) {
    if (!(element instanceof HTMLElement)) return;
    const { figure: figure2, chosen } = stateOf(element);
    const view = viewOf(figure2, chosen);
    if (width2 === null) draw(element);
    else if (view) drawPanels(find(element, ".panels"), view, logOf(view, chosen), width2);
  }
  function shownFigures() {
    return [...states].filter(([element]) => element.isConnected).map(([element, { figure: figure2, chosen }]) => ({ element, figure: figure2, chosen }));
  }
  var resized = new ResizeObserver((entries) => requestAnimationFrame(() => {
    for (const { target } of entries) {
      const state2 = states.get(target);
      if (target instanceof HTMLElement && state2 && !state2.isWaiting && target.isConnected && target.clientWidth > 0 && Math.abs(target.clientWidth - state2.width) > 1) draw(target);
    }
  }));
  function drawFigures(root, data2) {
    for (const section of data2.sections) {
      const home = root.querySelector(`.figures[data-section="${CSS.escape(section.id)}"]`);
      if (!home) continue;
      const old = new Map([...home.querySelectorAll("figure")].map((element) => [element.id, element]));
      for (const figure2 of section.figures) {
        const element = old.get(figure2.id) ?? place(figure2);
        old.delete(figure2.id);
        const state2 = stateOf(element);
        state2.figure = figure2;
        find(element, "h4").textContent = figure2.heading;
        home.append(element);
        fillChoices(element);
        if (!state2.isWaiting) queue.push(element);
        state2.isWaiting = true;
      }
      pair(home);
      for (const element of old.values()) {
        resized.unobserve(element);
        states.delete(element);
        element.remove();
      }
    }
    next();
  }
  function followLinks() {
    onChange(() => {
      for (const { element } of shownFigures()) {
        if (!(element instanceof HTMLElement)) continue;
        recall(element);
        fillChoices(element);
        draw(element);
      }
    });
  }

  // live/live.js
  var SECOND = 1e3;
  var state = document.getElementById("live-state");
  var bar = (
    /** @type {HTMLProgressElement} */
    document.getElementById("live-bar")
  );
  var figure = document.getElementById("live-machine");
  var tag = null;
  var told2 = "";
  var lastMachine = "";
  var misses = 0;
  var whole = (number2) => number2.toLocaleString("en");
  var brief2 = (number2) => number2.toLocaleString("en", { maximumSignificantDigits: 7 });
  var several = (number2, one, more) => `${whole(number2)} ${number2 === 1 ? one : more}`;
  function say(text2) {
    if (text2 !== told2) state.textContent = text2;
    told2 = text2;
  }
  function fill(fresh) {
    const page = new DOMParser().parseFromString(`<main>${fresh.results}</main>`, "text/html");
    for (const section of page.querySelectorAll("section.study")) {
      const home = document.getElementById(section.id);
      if (!home) continue;
      for (const part of [".runs", ".finding", ".sayings", ".notes", ".failures"]) {
        const own = home.querySelector(part), other = section.querySelector(part);
        if (own && other) own.replaceWith(other);
        else if (own) own.remove();
        else if (other && part === ".failures") home.querySelector(".asked").before(other);
        else if (other && part !== ".sayings") home.querySelector(".body").before(other);
      }
      home.querySelector(".asked dl")?.replaceWith(section.querySelector(".asked dl") ?? "");
      for (const table of section.querySelectorAll("details.numbers table")) {
        const own = document.getElementById(table.id);
        if (own) own.replaceWith(table);
        else home.querySelector(".asked").before(table.closest("details"));
      }
    }
    drawFigures(document, fresh.data);
  }
  async function ask(path2, headers = {}) {
    const response = await fetch(path2, { headers, cache: "no-store" });
    if (response.status === 304) return null;
    if (!response.ok) throw new Error(response.statusText);
    if (path2 === "/report.json") tag = response.headers.get("ETag");
    return response.json();
  }
  function colour(job, isDark) {
    const hue = job * 137.508 % 360, light = (isDark ? 52 : 58) + job * 7 % 3 * 8;
    return `hsl(${hue} 55% ${light}%)`;
  }
  function draw2(canvas, site, isDark) {
    const height = site.cells.length / site.width;
    const size = Math.max(2, Math.min(18, Math.floor(560 / Math.max(site.width, height))));
    const ratio = window.devicePixelRatio || 1;
    canvas.width = site.width * size * ratio;
    canvas.height = height * size * ratio;
    canvas.style.width = `${site.width * size}px`;
    canvas.style.aspectRatio = `${site.width} / ${height}`;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const gap = size > 5 ? 1 : 0;
    const free = getComputedStyle(canvas).getPropertyValue("--tint");
    site.cells.forEach((cell2, place2) => {
      if (cell2 < 0) return;
      context.fillStyle = cell2 === 0 ? free : colour(cell2, isDark);
      context.fillRect(place2 % site.width * size, Math.floor(place2 / site.width) * size, size - gap, size - gap);
    });
  }
  function showMachine(machine) {
    figure.hidden = !machine;
    if (!machine) return;
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const same = JSON.stringify(machine) + isDark;
    if (same === lastMachine) return;
    lastMachine = same;
    const where = machine.scenario ? `${machine.scenario}, replication ${machine.replication}` : `replication ${machine.replication}`;
    figure.querySelector("figcaption").textContent = `One of the runs: ${where}. At time ${brief2(machine.time)}, ${several(machine.running, "job runs", "jobs run")} and ${several(machine.waiting, "waits", "wait")}, ${whole(machine.finished)} have ended, and ${Math.round(100 * machine.utilization)} % of the processors are held. Each job has a colour.`;
    const sites = figure.querySelector(".sites");
    if (sites.children.length !== machine.sites.length) {
      sites.replaceChildren(...machine.sites.map(() => {
        const place2 = document.createElement("div");
        place2.append(document.createElement("p"), document.createElement("canvas"));
        return place2;
      }));
    }
    machine.sites.forEach((site, number2) => {
      const [name2, canvas] = sites.children[number2].children;
      name2.textContent = `${site.name}, ${whole(site.held)} of ${whole(site.nodes)} held`;
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", name2.textContent);
      draw2(canvas, site, isDark);
    });
    const asks2 = machine.queue.map((job) => job.asks).join(", ");
    const more = machine.waiting > machine.queue.length ? ", …" : "";
    figure.querySelector(".queue").textContent = asks2 ? `First in the queue, by what they ask for: ${asks2}${more}` : "";
  }
  function showProgress(now) {
    const share = now.total > 0 ? now.done / now.total : 0;
    bar.value = share;
    bar.hidden = now.ended;
    document.body.classList.toggle("is-running", !now.ended);
    const failed = now.failed > 0 ? `, ${several(now.failed, "failed", "failed")}` : "";
    const which = now.studies > 1 && !now.ended ? `${now.study}: ` : "";
    say(now.ended ? `All ${several(now.done, "run has", "runs have")} ended${failed}. The numbers below are the last ones.` : `${which}${whole(now.done)} of ${several(now.total, "run has", "runs have")} ended${failed}.`);
  }
  async function look2() {
    try {
      const now = await ask("/machine.json");
      misses = 0;
      showProgress(now);
      showMachine(now.ended ? null : now.machine);
      const fresh = await ask("/report.json", tag ? { "If-None-Match": tag } : {});
      if (fresh) fill(fresh);
      if (now.ended && tag === `"${now.version}"`) return;
    } catch (error) {
      misses += 1;
      if (misses > 3) {
        document.body.classList.remove("is-running");
        bar.hidden = true;
        say("The command has ended, or cannot be reached. This is the last that was heard of it.");
        return;
      }
    }
    setTimeout(look2, SECOND);
  }

  // machine/run.js
  var [ARRIVED, REFUSED, TURNED_AWAY, STARTED, MOVED, FINISHED] = [0, 1, 2, 3, 4, 5];
  var ARRAYS = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array };
  var CHUNK = 256;
  var COLOURS2 = 8;
  var LOOKS = 3 * COLOURS2;
  async function inflated(base64) {
    if (typeof DecompressionStream === "undefined") {
      throw new Error("This browser cannot unpack the recording: it is too old for that.");
    }
    const text2 = atob(base64);
    const packed = new Uint8Array(text2.length);
    for (let i = 0; i < text2.length; i += 1) packed[i] = text2.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  function column(bytes, from, kind, length) {
    const numbers = new ARRAYS[kind](length);
    const target = new Uint8Array(numbers.buffer);
    const width2 = numbers.BYTES_PER_ELEMENT;
    for (let byte = 0; byte < width2; byte += 1) {
      const plane = from + byte * length;
      for (let i = 0; i < length; i += 1) target[i * width2 + byte] = bytes[plane + i];
    }
    return numbers;
  }
  function upTo(sorted, value, length) {
    let low = 0;
    let high = length;
    while (low < high) {
      const middle = low + high >> 1;
      if (sorted[middle] <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  function lastEnds(ends, length) {
    const last = new Float64Array(Math.ceil(length / CHUNK)).fill(-Infinity);
    for (let i = 0; i < length; i += 1) {
      const chunk = Math.floor(i / CHUNK);
      if (ends[i] > last[chunk]) last[chunk] = ends[i];
    }
    return last;
  }
  function lasting(ends, last, count, time, visit) {
    for (let i = 0; i < count; i += 1) {
      if (i % CHUNK === 0 && last[i / CHUNK] <= time) i += CHUNK - 1;
      else if (ends[i] > time && visit(i)) return;
    }
  }
  var Run = class {
    // The columns of the recording.
    /** @type {Float64Array} */
    at;
    /** @type {Float64Array} */
    number;
    /** @type {Uint32Array} */
    count;
    /** @type {Uint32Array} */
    job;
    /** @type {Uint32Array} */
    request;
    /** @type {Uint32Array} */
    site;
    /** @type {Uint32Array} */
    blocks;
    /** @type {Uint32Array} */
    base;
    /** @type {Uint32Array} */
    shape;
    /** @type {Uint8Array} */
    kind;
    // What `play` makes of them.
    /** @type {Float64Array} when a job joined the queue, */
    submit;
    /** @type {Float64Array} left it, */
    left;
    /** @type {Float64Array} began to run, */
    start;
    /** @type {Float64Array} and ended */
    finish;
    /** @type {Uint8Array} 1 refused, 2 turned away */
    unserved;
    /** @type {Uint8Array} its colour and pattern */
    look;
    /** @type {number} */
    stays;
    /** @type {Uint32Array} of each stay the job, */
    who;
    /** @type {Uint32Array} the site, */
    where;
    /** @type {Float64Array} the time, */
    from;
    /** @type {Float64Array} */
    to;
    /** @type {Uint32Array} and the first block */
    firstBlock;
    /** @type {Uint32Array} how many processors it is */
    heldBy;
    /** @type {Uint32Array} after each instant: processors held, */
    held;
    /** @type {Uint32Array} jobs that wait, */
    waits;
    /** @type {Uint32Array} that run, */
    runs;
    /** @type {Uint32Array} that were refused or turned away so far */
    notServed;
    /** @type {number} */
    mostWaiting;
    constructor(recording, columns2) {
      Object.assign(this, columns2);
      this.recording = recording;
      this.sites = recording.sites;
      this.asked = recording.asked;
      this.shapes = recording.shapes;
      this.jobs = this.number.length;
      this.processors = 0;
      for (const site of this.sites) {
        site.nodes = site.sides.reduce((product, side) => product * side, 1);
        site.strides = [];
        site.sides.reduce((stride, side) => (site.strides.push(stride), stride * side), 1);
        this.processors += site.nodes;
      }
      this.shapeNodes = this.shapes.map((sides) => sides.reduce((a, b) => a * b, 1));
      this.play();
      this.lastStays = lastEnds(this.to, this.stays);
      this.lastWaits = lastEnds(this.left, this.jobs);
    }
    // Goes through all that happened, once.
    play() {
      const most = this.blocks.length;
      Object.assign(this, {
        submit: new Float64Array(this.jobs),
        // when a job joined the queue,
        left: new Float64Array(this.jobs).fill(Infinity),
        // left it,
        start: new Float64Array(this.jobs).fill(Infinity),
        // began to run,
        finish: new Float64Array(this.jobs).fill(Infinity),
        // and ended
        unserved: new Uint8Array(this.jobs),
        // 1 refused, 2 turned away
        look: new Uint8Array(this.jobs),
        // its colour and pattern
        stays: 0,
        who: new Uint32Array(most),
        // of each stay the job,
        where: new Uint32Array(most),
        // the site,
        from: new Float64Array(most),
        // the time,
        to: new Float64Array(most).fill(Infinity),
        firstBlock: new Uint32Array(most + 1),
        // and the first block
        heldBy: new Uint32Array(most),
        // how many processors it is
        held: new Uint32Array(this.at.length),
        // after each instant: processors held,
        waits: new Uint32Array(this.at.length),
        // jobs that wait,
        runs: new Uint32Array(this.at.length),
        // that run,
        notServed: new Uint32Array(this.at.length),
        // that were refused or turned away so far
        mostWaiting: 0
      });
      const stay = new Int32Array(this.jobs).fill(-1);
      const users = new Uint32Array(LOOKS);
      let [event, starts, block, nextLook] = [0, 0, 0, 0];
      let [held, waits, runs, notServed] = [0, 0, 0, 0];
      const begin = (job, site, time) => {
        const s = this.stays;
        this.stays += 1;
        stay[job] = s;
        [this.who[s], this.where[s], this.from[s], this.firstBlock[s]] = [job, site, time, block];
        const end2 = block + this.blocks[s];
        for (; block < end2; block += 1) this.heldBy[s] += this.shapeNodes[this.shape[block]];
        this.firstBlock[s + 1] = block;
        held += this.heldBy[s];
      };
      const end = (job, time) => {
        this.to[stay[job]] = time;
        held -= this.heldBy[stay[job]];
      };
      for (let i = 0; i < this.at.length; i += 1) {
        const time = this.at[i];
        for (const last = event + this.count[i]; event < last; event += 1) {
          const job = this.job[event];
          switch (this.kind[event]) {
            case ARRIVED:
              this.submit[job] = time;
              waits += 1;
              break;
            case REFUSED:
            case TURNED_AWAY:
              if (this.kind[event] === REFUSED) this.submit[job] = time;
              else waits -= 1;
              this.unserved[job] = this.kind[event] === REFUSED ? 1 : 2;
              this.left[job] = time;
              notServed += 1;
              break;
            case STARTED: {
              this.start[job] = this.left[job] = time;
              let look3 = nextLook;
              for (let k = 0; k < LOOKS; k += 1) {
                const other = (nextLook + k) % LOOKS;
                if (users[other] < users[look3]) look3 = other;
              }
              users[look3] += 1;
              nextLook = (look3 + 1) % LOOKS;
              this.look[job] = look3;
              begin(job, this.site[starts], time);
              starts += 1;
              waits -= 1;
              runs += 1;
              break;
            }
            case MOVED: {
              const site = this.where[stay[job]];
              end(job, time);
              begin(job, site, time);
              break;
            }
            case FINISHED:
              this.finish[job] = time;
              end(job, time);
              users[this.look[job]] -= 1;
              runs -= 1;
              break;
          }
        }
        this.mostWaiting = Math.max(this.mostWaiting, waits);
        [this.held[i], this.waits[i]] = [held, waits];
        [this.runs[i], this.notServed[i]] = [runs, notServed];
      }
    }
    // Who holds what at a time, in order of starts, and the first who wait, in order of arrival.
    moment(time, mostWaiting) {
      const instant = upTo(this.at, time, this.at.length) - 1;
      const of = (counts) => instant < 0 ? 0 : counts[instant];
      const running = [];
      lasting(this.to, this.lastStays, upTo(this.from, time, this.stays), time, (s) => {
        running.push(s);
        return false;
      });
      const waiting = [];
      if (of(this.waits) > 0) {
        const count = upTo(this.submit, time, this.jobs);
        lasting(this.left, this.lastWaits, count, time, (job) => waiting.push(job) >= mostWaiting);
      }
      return {
        time,
        instant,
        running,
        waiting,
        held: of(this.held),
        waits: of(this.waits),
        runs: of(this.runs),
        notServed: of(this.notServed)
      };
    }
    // The stays of a job.
    staysOf(job) {
      const stays = [];
      const count = upTo(this.from, this.finish[job], this.stays);
      let s = upTo(this.from, this.start[job], this.stays);
      while (s > 0 && this.from[s - 1] === this.start[job]) s -= 1;
      for (; s < count; s += 1) {
        if (this.who[s] === job) stays.push(s);
      }
      return stays;
    }
    // Calls `visit` with first node and count of every row of consecutive nodes that a stay holds.
    rowsOf(s, visit) {
      const { sides, strides } = this.sites[this.where[s]];
      for (let block = this.firstBlock[s]; block < this.firstBlock[s + 1]; block += 1) {
        const corner = sides.map((side, d) => Math.floor(this.base[block] / strides[d]) % side);
        const shape = this.shapes[this.shape[block]];
        const width2 = Math.min(shape[0], sides[0] - corner[0]);
        const offset = shape.map(() => 0);
        for (let d = 0; d < shape.length; ) {
          let row = 0;
          for (d = 1; d < shape.length; d += 1) row += (corner[d] + offset[d]) % sides[d] * strides[d];
          visit(row + corner[0], width2);
          if (width2 < shape[0]) visit(row, shape[0] - width2);
          for (d = 1; d < shape.length; d += 1) {
            offset[d] += 1;
            if (offset[d] < shape[d]) break;
            offset[d] = 0;
          }
        }
      }
    }
    // What a stay holds, as per-job output writes it: `6,0:2x3`.
    placeOf(s) {
      const { sides, strides } = this.sites[this.where[s]];
      const texts = [];
      for (let block = this.firstBlock[s]; block < this.firstBlock[s + 1]; block += 1) {
        const corner = sides.map((side, d) => Math.floor(this.base[block] / strides[d]) % side);
        texts.push(`${corner.join(",")}:${this.shapes[this.shape[block]].join("x")}`);
      }
      return texts;
    }
    // Where to begin to look: in a part of the time, the first of the instants at which most jobs run.
    busiest(after2, before2) {
      const { from, until } = this.recording;
      const [first, last] = [after2, before2].map((share) => upTo(this.at, from + share * (until - from), this.at.length));
      let best = -1;
      for (let i = first; i < last; i += 1) if (best < 0 || this.runs[i] > this.runs[best]) best = i;
      return best < 0 ? from : Math.max(this.at[best], from);
    }
    // The instant before or behind a time, or the end that is next.
    neighbour(time, step) {
      const place2 = upTo(this.at, time, this.at.length);
      if (step > 0) return place2 < this.at.length ? this.at[place2] : this.recording.until;
      let before2 = place2 - 1;
      while (before2 >= 0 && this.at[before2] >= time) before2 -= 1;
      return Math.max(before2 < 0 ? this.recording.from : this.at[before2], this.recording.from);
    }
  };
  async function open(recording) {
    const bytes = await inflated(recording.data);
    const columns2 = {};
    let from = 0;
    for (const [name2, kind, length] of recording.columns) {
      columns2[name2] = column(bytes, from, kind, length);
      from += columns2[name2].byteLength;
    }
    return new Run(recording, columns2);
  }

  // machine/paint.js
  function theme(element) {
    const style = getComputedStyle(element);
    const get = (name2) => style.getPropertyValue(`--m-${name2}`).trim();
    const jobs2 = [];
    for (let i = 0; i < COLOURS2; i += 1) jobs2.push(get(`job-${i}`));
    const names2 = ["free", "edge", "ink", "soft", "label", "ground", "held", "waits", "chosen"];
    return names2.reduce((all, name2) => Object.assign(all, { [name2]: get(name2) }), { jobs: jobs2, tiles: /* @__PURE__ */ new Map() });
  }
  function sized(canvas, width2, height) {
    const ratio = Math.min(globalThis.devicePixelRatio || 1, 3);
    const [across, down] = [width2, height].map((length) => Math.max(1, Math.round(length * ratio)));
    if (canvas.width !== across || canvas.height !== down) {
      [canvas.width, canvas.height] = [across, down];
      canvas.style.width = `${width2}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width2, height);
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "middle";
    return context;
  }
  function tile(theme2, context, pattern) {
    if (!theme2.tiles.has(pattern)) {
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = 8;
      const brush = canvas.getContext("2d");
      brush.strokeStyle = brush.fillStyle = theme2.label;
      brush.globalAlpha = 0.45;
      brush.beginPath();
      if (pattern === 1) {
        for (const x of [-8, 0, 8]) {
          brush.moveTo(x, 8);
          brush.lineTo(x + 8, 0);
        }
        brush.stroke();
      } else {
        for (const [x, y] of [[2, 2], [6, 6]]) brush.fillRect(x - 0.8, y - 0.8, 1.6, 1.6);
      }
      theme2.tiles.set(pattern, context.createPattern(canvas, "repeat"));
    }
    return theme2.tiles.get(pattern);
  }
  function fill2(context, theme2, look3, x, y, width2, height) {
    context.fillStyle = theme2.jobs[look3 % COLOURS2];
    context.fillRect(x, y, width2, height);
    const pattern = Math.floor(look3 / COLOURS2);
    if (pattern > 0 && width2 >= 4 && height >= 4) {
      context.fillStyle = tile(theme2, context, pattern);
      context.fillRect(x, y, width2, height);
    }
  }
  function ticks(from, until, about) {
    const span = until - from;
    if (!(span > 0)) return [from];
    const raw = span / Math.max(1, about);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) * power;
    const values = [];
    for (let k = Math.ceil(from / step - 1e-9); k * step <= until + step * 1e-9; k += 1) values.push(k * step);
    return values;
  }
  function number(value) {
    if (!Number.isFinite(value)) return "–";
    const rounded2 = Math.abs(value) >= 1e15 ? value : Math.round(value * 1e3) / 1e3;
    const [whole2, part] = String(rounded2).split(".");
    if (whole2.includes("e")) return String(rounded2);
    const grouped2 = whole2.length > 4 ? whole2.replace(/\B(?=(\d{3})+$)/g, ",") : whole2;
    return part ? `${grouped2}.${part}` : grouped2;
  }
  function short(value) {
    const decimals = Math.max(0, 6 - String(Math.trunc(Math.abs(value))).length);
    return number(decimals < 3 ? Number(value.toFixed(decimals)) : value);
  }

  // machine/plots.js
  var HEIGHTS = { held: 46, waits: 38, gap: 16, axis: 18 };
  var PAD = 9;
  function columns(run, counts, from, until, width2) {
    const mean = new Float64Array(width2);
    const least = new Float64Array(width2);
    const most = new Float64Array(width2);
    const span = (until - from) / width2;
    let place2 = upTo(run.at, from, run.at.length);
    let value = place2 > 0 ? counts[place2 - 1] : 0;
    for (let x = 0; x < width2; x += 1) {
      const end = x + 1 === width2 ? until : from + (x + 1) * span;
      let time = from + x * span;
      let area = 0;
      least[x] = most[x] = value;
      while (place2 < run.at.length && run.at[place2] <= end) {
        area += (run.at[place2] - time) * value;
        time = run.at[place2];
        value = counts[place2];
        least[x] = Math.min(least[x], value);
        most[x] = Math.max(most[x], value);
        place2 += 1;
      }
      area += (end - time) * value;
      mean[x] = span > 0 ? area / span : value;
    }
    return { mean, least, most };
  }
  function curve(context, theme2, colour2, data2, top, height, full, words) {
    const y = (value) => top + height - (full > 0 ? value / full * height : 0);
    const { mean, least, most } = data2;
    context.fillStyle = colour2;
    context.globalAlpha = 0.25;
    for (let x = 0; x < mean.length; x += 1) context.fillRect(PAD + x, y(mean[x]), 1, top + height - y(mean[x]));
    context.globalAlpha = 0.35;
    for (let x = 0; x < mean.length; x += 1) context.fillRect(PAD + x, y(most[x]), 1, y(least[x]) - y(most[x]));
    context.globalAlpha = 1;
    context.strokeStyle = colour2;
    context.lineWidth = 1.5;
    context.beginPath();
    for (let x = 0; x < mean.length; x += 1) context.lineTo(PAD + x + 0.5, y(mean[x]));
    context.stroke();
    context.strokeStyle = theme2.soft;
    context.lineWidth = 1;
    context.globalAlpha = 0.4;
    context.strokeRect(PAD + 0.5, top + 0.5, mean.length - 1, height - 1);
    context.globalAlpha = 1;
    context.fillStyle = theme2.ink;
    context.textAlign = "left";
    context.fillText(words, PAD, top - 7);
  }
  function drawPlots(canvas, run, theme2, width2) {
    const { held, waits, gap, axis } = HEIGHTS;
    const height = gap + held + gap + waits + axis;
    const context = sized(canvas, width2, height);
    const { from, until } = run.recording;
    const inner = Math.max(1, Math.floor(width2 - 2 * PAD));
    const second = gap + held + gap;
    curve(
      context,
      theme2,
      theme2.held,
      columns(run, run.held, from, until, inner),
      gap,
      held,
      run.processors,
      `Processors held, of ${number(run.processors)}`
    );
    curve(
      context,
      theme2,
      theme2.waits,
      columns(run, run.waits, from, until, inner),
      second,
      waits,
      run.mostWaiting,
      `Jobs that wait, at most ${number(run.mostWaiting)}`
    );
    const x = (time) => PAD + (until > from ? (time - from) / (until - from) * inner : 0);
    drawAxis(context, theme2, from, until, x, second + waits, width2);
  }
  function drawAxis(context, theme2, from, until, x, y, width2) {
    context.fillStyle = context.strokeStyle = theme2.soft;
    context.textAlign = "center";
    context.beginPath();
    for (const time of ticks(from, until, width2 / 110)) {
      const at2 = Math.round(x(time)) + 0.5;
      context.moveTo(at2, y);
      context.lineTo(at2, y + 4);
      const text2 = number(time);
      const half = text2.length * 3;
      context.fillText(text2, Math.min(Math.max(at2, half + 1), width2 - half - 1), y + 11);
    }
    context.lineWidth = 1;
    context.stroke();
  }

  // machine/gantt.js
  var AXIS = 18;
  var HEADING = 13;
  var GAP3 = 6;
  var Gantt = class {
    constructor(run) {
      this.run = run;
      this.bands = run.sites.map((site) => ({ site, ordered: site.sides.length === 1, lanes: 0 }));
      this.lane = new Uint32Array(run.stays);
      this.pack();
      this.view = { from: run.recording.from, until: run.recording.until };
      this.least = Math.max((this.view.until - this.view.from) / Math.max(50, run.jobs * 4), Number.MIN_VALUE);
    }
    // Lanes: a job keeps its own as long as it runs.
    pack() {
      const { run } = this;
      const free = run.sites.map(() => []);
      const laneOf = /* @__PURE__ */ new Map();
      const ends = [];
      const order = Array.from({ length: run.stays }, (_, s) => s).sort((a, b) => run.to[a] - run.to[b]);
      let next2 = 0;
      for (let s = 0; s < run.stays; s += 1) {
        for (; next2 < order.length && run.to[order[next2]] <= run.from[s]; next2 += 1) ends.push(order[next2]);
        for (const over of ends.splice(0)) {
          const job2 = run.who[over];
          if (run.finish[job2] === run.to[over] && laneOf.has(job2)) {
            push(free[run.where[over]], laneOf.get(job2));
            laneOf.delete(job2);
          }
        }
        const [job, band] = [run.who[s], this.bands[run.where[s]]];
        if (!laneOf.has(job)) {
          const lowest = free[run.where[s]].length > 0 ? pop(free[run.where[s]]) : band.lanes;
          band.lanes = Math.max(band.lanes, lowest + 1);
          laneOf.set(job, lowest);
        }
        this.lane[s] = laneOf.get(job);
      }
      for (const band of this.bands) band.lanes = band.ordered ? band.site.nodes : Math.max(1, band.lanes);
    }
    // Zooms by a factor around a time, or moves by a share of what is seen.
    zoom(factor, around) {
      const { from, until } = this.view;
      const span = Math.max((until - from) * factor, this.least);
      this.show(around - (around - from) / (until - from || 1) * span, span);
    }
    pan(time) {
      this.show(this.view.from + time, this.view.until - this.view.from);
    }
    show(from, span) {
      const { recording } = this.run;
      const whole2 = recording.until - recording.from;
      const wide2 = Math.min(span, whole2);
      const begin = Math.min(Math.max(from, recording.from), recording.until - wide2);
      this.view = { from: begin, until: begin + wide2 };
    }
    // Moves on so that a time is seen.
    follow(time) {
      const { from, until } = this.view;
      if (time >= from && time <= until) return false;
      this.show(time - (until - from) * 0.2, until - from);
      return true;
    }
    x(time, width2 = this.width) {
      const { from, until } = this.view;
      return PAD + (until > from ? (time - from) / (until - from) * (width2 - 2 * PAD) : 0);
    }
    time(x) {
      const { from, until } = this.view;
      return from + (x - PAD) / Math.max(1, this.width - 2 * PAD) * (until - from);
    }
    // Where the bands of the sites lie, in so much height.
    place(height) {
      const heading = this.bands.length > 1 ? HEADING : 0;
      const room = height - AXIS - this.bands.length * (heading + GAP3);
      const all = this.bands.reduce((sum, band) => sum + Math.sqrt(band.lanes), 0);
      let y = 0;
      for (const band of this.bands) {
        band.top = y + heading;
        const most = band.ordered ? Infinity : band.lanes * 22;
        band.height = Math.min(Math.max(12, room * Math.sqrt(band.lanes) / all), most);
        y = band.top + band.height + GAP3;
      }
      return y - GAP3 + AXIS;
    }
    draw(canvas, theme2, width2, height, chosen) {
      this.width = width2;
      const used = this.place(height);
      const context = sized(canvas, width2, used);
      this.rects = [];
      context.save();
      context.beginPath();
      context.rect(PAD, 0, width2 - 2 * PAD, used);
      context.clip();
      this.bands.forEach((band) => {
        context.fillStyle = theme2.free;
        context.fillRect(PAD, band.top, width2 - 2 * PAD, band.height);
      });
      if (chosen >= 0) this.drawWait(context, theme2, chosen);
      this.drawBars(context, theme2, chosen);
      context.restore();
      context.fillStyle = theme2.ink;
      context.textAlign = "left";
      if (this.bands.length > 1) {
        this.bands.forEach((band, i) => context.fillText(`site ${i + 1}: ${band.site.words}`, PAD, band.top - 6));
      }
      drawAxis(context, theme2, this.view.from, this.view.until, (time) => this.x(time), used - AXIS, width2);
    }
    drawBars(context, theme2, chosen) {
      const { run, view } = this;
      const count = upTo(run.from, view.until, run.stays);
      const names2 = [];
      const edged = [];
      lasting(run.to, run.lastStays, count, view.from, (s) => {
        const job = run.who[s];
        const left = Math.max(this.x(run.from[s]), 0);
        const right = Math.min(this.x(Math.min(run.to[s], run.recording.until)), this.width);
        const wide2 = Math.max(right - left, 0.6);
        context.globalAlpha = chosen >= 0 && job !== chosen ? 0.35 : 1;
        this.pieces(s, (top, height) => {
          fill2(context, theme2, run.look[job], left, top, wide2, height);
          if (wide2 >= 4 && height >= 4) edged.push([left, top, wide2, height, s]);
          this.rects.push([left, top, wide2, height, job]);
          const text2 = String(run.number[job]);
          if (height >= 11 && wide2 > text2.length * 6 + 6) names2.push([text2, left, top, wide2, height, job]);
        });
        return false;
      });
      context.lineWidth = 1;
      for (const [x, y, width2, height, s] of edged) {
        const job = run.who[s];
        const isChosen = job === chosen;
        context.strokeStyle = isChosen ? theme2.chosen : theme2.edge;
        context.globalAlpha = isChosen ? 1 : 0.55;
        context.lineWidth = isChosen ? 2 : 1;
        context.beginPath();
        const sides = [run.from[s] === run.start[job] && x + 0.5, run.to[s] === run.finish[job] && x + width2 - 0.5];
        for (const side of sides) {
          if (side === false) continue;
          context.moveTo(side, y);
          context.lineTo(side, y + height);
        }
        for (const side of [y + 0.5, y + height - 0.5]) {
          context.moveTo(x, side);
          context.lineTo(x + width2, side);
        }
        context.stroke();
      }
      context.fillStyle = theme2.label;
      context.textAlign = "center";
      for (const [text2, x, y, width2, height, job] of names2) {
        context.globalAlpha = chosen >= 0 && job !== chosen ? 0.5 : 1;
        context.fillText(text2, x + width2 / 2, y + height / 2 + 0.5);
      }
      context.globalAlpha = 1;
    }
    // From its arrival until its start a chosen job is a line, where its bar begins.
    drawWait(context, theme2, job) {
      const { run } = this;
      const end = Math.min(run.left[job], run.recording.until);
      if (end <= run.submit[job]) return;
      const stays = run.staysOf(job);
      let y = 2;
      if (stays.length > 0) this.pieces(stays[0], (top, height) => {
        y = top + height / 2;
      });
      context.strokeStyle = theme2.chosen;
      context.lineWidth = 2;
      context.setLineDash([2, 3]);
      context.beginPath();
      context.moveTo(this.x(run.submit[job]), y);
      context.lineTo(this.x(end), y);
      context.stroke();
      context.setLineDash([]);
    }
    // Calls `visit` with top and height of every piece of a stay.
    pieces(s, visit) {
      const band = this.bands[this.run.where[s]];
      const lane = band.height / band.lanes;
      if (!band.ordered) {
        visit(band.top + this.lane[s] * lane, lane > 3 ? lane - 1 : lane);
        return;
      }
      this.run.rowsOf(s, (first, count) => visit(band.top + first * lane, Math.max(count * lane, 0.6)));
    }
    // The job of the bar at a point, or -1.
    at(x, y) {
      for (let i = this.rects.length - 1; i >= 0; i -= 1) {
        const [left, top, width2, height, job] = this.rects[i];
        if (x >= left - 1 && x <= left + width2 + 1 && y >= top && y <= top + height) return job;
      }
      return -1;
    }
  };
  function push(heap, number2) {
    let at2 = heap.push(number2) - 1;
    while (at2 > 0 && heap[at2 - 1 >> 1] > number2) {
      heap[at2] = heap[at2 - 1 >> 1];
      at2 = at2 - 1 >> 1;
    }
    heap[at2] = number2;
  }
  function pop(heap) {
    const lowest = heap[0];
    const last = heap.pop();
    if (heap.length === 0) return lowest;
    let at2 = 0;
    for (; ; ) {
      let child = 2 * at2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1] < heap[child]) child += 1;
      if (heap[child] >= last) break;
      heap[at2] = heap[child];
      at2 = child;
    }
    heap[at2] = last;
    return lowest;
  }

  // machine/layout.js
  var GAP4 = 14;
  var TITLE = 15;
  var LETTER = 6.2;
  var gray = (place2) => place2 ^ place2 >> 1;
  var width = (text2) => Math.ceil(String(text2).length * LETTER);
  function rows(site, cell2, room) {
    const label = cell2 >= 8 ? width(site.nodes - 1) + 6 : 0;
    const square = Math.max(16, 2 ** Math.ceil(Math.log2(Math.sqrt(2 * site.nodes))));
    const across = Math.max(1, Math.min(square, site.nodes, Math.floor((room - label) / cell2)));
    const down = Math.ceil(site.nodes / across);
    const labels = [];
    for (let y = 0; label > 0 && y < down; y += 1) {
      labels.push({ x: label - 6, y: (y + 0.5) * cell2, text: y * across, align: "right" });
    }
    const node = (x, y) => y * across + x < site.nodes ? y * across + x : -1;
    return { labels, panes: [{ x: label, y: 0, columns: across, rows: down, node }] };
  }
  function karnaugh(site, cell2) {
    const across = Math.ceil(site.sides.length / 2);
    const down = site.sides.length - across;
    const [columns2, lines] = [2 ** across, 2 ** down];
    const bits = cell2 >= 9;
    const x = bits && down > 0 ? width("".padStart(down)) + 6 : 0;
    const y = bits ? across * 10 + 4 : 0;
    const labels = [];
    for (let column2 = 0; bits && column2 < columns2; column2 += 1) {
      const text2 = gray(column2).toString(2).padStart(across, "0");
      [...text2].forEach((bit, i) => labels.push({ x: x + (column2 + 0.5) * cell2, y: i * 10 + 5, text: bit, align: "center" }));
    }
    for (let row = 0; x > 0 && row < lines; row += 1) {
      const text2 = gray(row).toString(2).padStart(down, "0");
      labels.push({ x: x - 6, y: y + (row + 0.5) * cell2, text: text2, align: "right" });
    }
    const node = (column2, row) => gray(row) * columns2 + gray(column2);
    return { labels, panes: [{ x, y, columns: columns2, rows: lines, node }] };
  }
  function layers(site, cell2, room) {
    const [columns2, lines] = [site.sides[0], site.sides[1]];
    const size = columns2 * lines;
    const count = site.nodes / size;
    const title = (layer) => {
      const further = site.sides.slice(2).map((side, d) => Math.floor(layer * size / site.strides[d + 2]) % side);
      return further.length === 1 ? `z=${further[0]}` : further.join(",");
    };
    const pane = Math.max(columns2 * cell2, count > 1 ? width(title(count - 1)) : 0);
    let across = Math.max(1, Math.min(count, Math.floor((room + GAP4) / (pane + GAP4))));
    if (site.sides.length > 3 && across > site.sides[2]) across -= across % site.sides[2];
    const heading = count > 1 ? TITLE : 0;
    const labels = [];
    const panes = [];
    for (let layer = 0; layer < count; layer += 1) {
      const x = layer % across * (pane + GAP4);
      const y = Math.floor(layer / across) * (heading + lines * cell2 + GAP4 / 2);
      if (heading > 0) labels.push({ x, y: y + heading / 2, text: title(layer), align: "left" });
      const node = (column2, row) => layer * size + row * columns2 + column2;
      panes.push({ x, y: y + heading, columns: columns2, rows: lines, node });
    }
    return { labels, panes };
  }
  function layout(site, cell2, room) {
    let drawn;
    if (site.wiring === "hypercube") drawn = karnaugh(site, cell2);
    else if (site.sides.length === 1) drawn = rows(site, cell2, room);
    else drawn = layers(site, cell2, room);
    const far = (end) => Math.max(1, Math.ceil(Math.max(...drawn.panes.map(end))));
    drawn.width = far((pane) => pane.x + pane.columns * cell2);
    drawn.height = far((pane) => pane.y + pane.rows * cell2);
    for (const label of drawn.labels) {
      if (label.align === "left") drawn.width = Math.max(drawn.width, label.x + width(label.text));
    }
    return Object.assign(drawn, { cell: cell2 });
  }
  function layouts(sites, room, height, caption) {
    let cells = [];
    for (let cell2 = 30; cell2 >= 1; cell2 -= cell2 > 12 ? 2 : 1) cells.push(cell2);
    cells = cells.concat([0.5, 0.25, 0.125, 0.0625]);
    for (const cell2 of cells) {
      const all = sites.map((site) => layout(site, cell2, room));
      let [x, y, line2] = [0, 0, 0];
      for (const one of all) {
        const taken = Math.max(one.width, 150);
        if (x > 0 && x + taken > room) {
          y += line2;
          [x, line2] = [0, 0];
        }
        x += taken + 24;
        line2 = Math.max(line2, one.height + caption);
      }
      const fits = all.every((one) => one.width <= room) && (y + line2 <= height || cell2 <= 0.0625);
      if (fits) return all;
    }
    return sites.map((site) => layout(site, cells[cells.length - 1], room));
  }

  // machine/map.js
  var SiteMap = class {
    /** @type {import("./run.js").Run} */
    run;
    /** @type {number} */
    site;
    /** @type {HTMLCanvasElement} */
    canvas;
    constructor(run, site, canvas) {
      Object.assign(this, { run, site, canvas });
      this.holder = new Int32Array(run.sites[site].nodes);
    }
    // Who holds each processor: the number of the stay, or -1.
    hold(moment) {
      this.holder.fill(-1);
      for (const s of moment.running) {
        if (this.run.where[s] === this.site) {
          this.run.rowsOf(s, (first, count) => this.holder.fill(s, first, first + count));
        }
      }
    }
    draw(layout2, moment, chosen, theme2) {
      this.layout = layout2;
      this.hold(moment);
      const context = sized(this.canvas, layout2.width, layout2.height);
      for (const pane of layout2.panes) {
        if (layout2.cell >= 1) this.drawPane(context, pane, chosen, theme2);
        else this.drawDots(context, pane, chosen, theme2);
      }
      context.fillStyle = theme2.soft;
      for (const label of layout2.labels) {
        context.textAlign = label.align;
        context.fillText(label.text, label.x, label.y);
      }
    }
    drawPane(context, pane, chosen, theme2) {
      const { cell: cell2 } = this.layout;
      context.fillStyle = theme2.free;
      const whole2 = this.rectangles(pane);
      const line2 = cell2 >= 12 ? 2 : cell2 >= 5 ? 1 : 0;
      for (const { s, x, y, columns: columns2, rows: rows2 } of whole2) {
        const [left, top] = [pane.x + x * cell2, pane.y + y * cell2];
        if (s >= 0) fill2(context, theme2, this.run.look[this.run.who[s]], left, top, columns2 * cell2, rows2 * cell2);
        else {
          context.fillStyle = theme2.free;
          context.fillRect(left, top, columns2 * cell2, rows2 * cell2);
        }
      }
      if (cell2 >= 5) this.drawGrid(context, pane, theme2);
      this.drawEdges(context, pane, theme2, line2);
      if (chosen >= 0) this.drawChosen(context, pane, chosen, theme2);
      this.drawNames(context, pane, whole2, theme2);
    }
    holderAt(pane, x, y) {
      if (x < 0 || y < 0 || x >= pane.columns || y >= pane.rows) return -2;
      const node = pane.node(x, y);
      return node < 0 ? -2 : this.holder[node];
    }
    // The pane as rectangles of one holder each: what is in one row, together with equal rows above it.
    rectangles(pane) {
      const done = [];
      let open2 = [];
      for (let y = 0; y < pane.rows; y += 1) {
        const row = [];
        for (let x = 0; x < pane.columns; ) {
          const s = this.holderAt(pane, x, y);
          const from = x;
          do
            x += 1;
          while (x < pane.columns && this.holderAt(pane, x, y) === s);
          if (s > -2) row.push({ s, x: from, y, columns: x - from, rows: 1 });
        }
        let above = 0;
        for (let i = 0; i < row.length; i += 1) {
          while (above < open2.length && open2[above].x < row[i].x) above += 1;
          const same = open2[above];
          if (same && same.x === row[i].x && same.columns === row[i].columns && same.s === row[i].s) {
            same.rows += 1;
            same.taken = y;
            row[i] = same;
          }
        }
        for (const one of open2) if (one.taken !== y) done.push(one);
        open2 = row;
      }
      return done.concat(open2);
    }
    drawGrid(context, pane, theme2) {
      const { cell: cell2 } = this.layout;
      context.strokeStyle = theme2.edge;
      context.lineWidth = 1;
      context.globalAlpha = 0.22;
      context.beginPath();
      for (let x = 1; x < pane.columns; x += 1) {
        context.moveTo(pane.x + x * cell2, pane.y);
        context.lineTo(pane.x + x * cell2, pane.y + pane.rows * cell2);
      }
      for (let y = 1; y < pane.rows; y += 1) {
        context.moveTo(pane.x, pane.y + y * cell2);
        context.lineTo(pane.x + pane.columns * cell2, pane.y + y * cell2);
      }
      context.stroke();
      context.globalAlpha = 1;
    }
    // Calls `visit` with the ends of every edge between two cells of which `differ` says so.
    edges(pane, differ, visit) {
      const { cell: cell2 } = this.layout;
      for (let y = 0; y <= pane.rows; y += 1) {
        for (let x = 0; x <= pane.columns; x += 1) {
          const here = this.holderAt(pane, x, y);
          const [left, top] = [pane.x + x * cell2, pane.y + y * cell2];
          if (differ(here, this.holderAt(pane, x - 1, y))) visit(left, top, left, top + cell2);
          if (differ(here, this.holderAt(pane, x, y - 1))) visit(left, top, left + cell2, top);
        }
      }
    }
    drawEdges(context, pane, theme2, width2) {
      if (width2 === 0) return;
      context.strokeStyle = theme2.edge;
      context.lineWidth = width2;
      context.lineCap = "square";
      context.beginPath();
      const differ = (a, b) => a !== b && (a >= 0 || b >= 0);
      this.edges(pane, differ, (...ends) => {
        context.moveTo(ends[0], ends[1]);
        context.lineTo(ends[2], ends[3]);
      });
      context.stroke();
      const { cell: cell2 } = this.layout;
      const isTorus = this.run.sites[this.site].wiring === "torus";
      context.lineWidth = 1;
      context.setLineDash(isTorus ? [3, 3] : []);
      context.strokeRect(pane.x + 0.5, pane.y + 0.5, pane.columns * cell2 - 1, pane.rows * cell2 - 1);
      context.setLineDash([]);
    }
    drawChosen(context, pane, chosen, theme2) {
      const { cell: cell2 } = this.layout;
      const is = (s) => s >= 0 && this.run.who[s] === chosen;
      context.fillStyle = theme2.ground;
      context.globalAlpha = 0.5;
      for (const { s, x, y, columns: columns2, rows: rows2 } of this.rectangles(pane)) {
        if (!is(s)) context.fillRect(pane.x + x * cell2, pane.y + y * cell2, columns2 * cell2, rows2 * cell2);
      }
      context.globalAlpha = 1;
      context.strokeStyle = theme2.chosen;
      context.lineWidth = Math.max(2, Math.min(3, cell2 / 5));
      context.beginPath();
      this.edges(pane, (a, b) => is(a) !== is(b), (...ends) => {
        context.moveTo(ends[0], ends[1]);
        context.lineTo(ends[2], ends[3]);
      });
      context.stroke();
    }
    // The number of every job that has room for it, once.
    drawNames(context, pane, whole2, theme2) {
      const { cell: cell2 } = this.layout;
      const largest2 = /* @__PURE__ */ new Map();
      for (const one of whole2) {
        const known = largest2.get(one.s);
        if (one.s >= 0 && (!known || known.columns * known.rows < one.columns * one.rows)) largest2.set(one.s, one);
      }
      context.fillStyle = theme2.label;
      context.textAlign = "center";
      for (const { s, x, y, columns: columns2, rows: rows2 } of largest2.values()) {
        const text2 = String(this.run.number[this.run.who[s]]);
        const [width2, height] = [columns2 * cell2, rows2 * cell2];
        if (text2.length * 6 + 4 > width2 || height < 11) continue;
        context.fillText(text2, pane.x + x * cell2 + width2 / 2, pane.y + y * cell2 + height / 2 + 0.5);
      }
    }
    // More processors than dots: each dot shows one of those that it stands for.
    drawDots(context, pane, chosen, theme2) {
      const { cell: cell2 } = this.layout;
      const [width2, height] = [Math.ceil(pane.columns * cell2), Math.ceil(pane.rows * cell2)];
      for (let y = 0; y < height; y += 1) {
        const row = Math.min(pane.rows - 1, Math.floor(y / cell2));
        for (let x = 0; x < width2; ) {
          const at2 = (dot) => this.holderAt(pane, Math.min(pane.columns - 1, Math.floor(dot / cell2)), row);
          const s = at2(x);
          const from = x;
          do
            x += 1;
          while (x < width2 && at2(x) === s);
          if (s === -2) continue;
          context.fillStyle = s < 0 ? theme2.free : theme2.jobs[this.run.look[this.run.who[s]] % COLOURS2];
          context.globalAlpha = chosen >= 0 && (s < 0 || this.run.who[s] !== chosen) ? 0.4 : 1;
          context.fillRect(pane.x + from, pane.y + y, x - from, 1);
        }
      }
      context.globalAlpha = 1;
    }
    // The job at a point of the canvas, or -1; and the node, or -1.
    at(px, py) {
      const { cell: cell2, panes } = this.layout;
      for (const pane of panes) {
        const [x, y] = [Math.floor((px - pane.x) / cell2), Math.floor((py - pane.y) / cell2)];
        const s = this.holderAt(pane, x, y);
        if (s > -2) return { node: pane.node(x, y), job: s < 0 ? -1 : this.run.who[s] };
      }
      return { node: -1, job: -1 };
    }
  };

  // plot/canvas.js
  var SvgCanvas = class {
    width = 1;
    height = 1;
    style = (
      /** @type {Record<string, string>} */
      {}
    );
    globalAlpha = 1;
    lineWidth = 1;
    lineCap = "butt";
    font = "10px sans-serif";
    textAlign = "left";
    textBaseline = "middle";
    /** @type {any} */
    fillStyle = "#000";
    /** @type {any} */
    strokeStyle = "#000";
    #marks = (
      /** @type {string[]} */
      []
    );
    #defs = (
      /** @type {string[]} */
      []
    );
    #path = "";
    #dash = (
      /** @type {number[]} */
      []
    );
    #clip = (
      /** @type {string | null} */
      null
    );
    #kept = (
      /** @type {Kept[]} */
      []
    );
    #name;
    /** The names of clips and patterns begin with this: no two drawings of one file may share them. */
    constructor(name2 = "m") {
      this.#name = name2;
    }
    getContext() {
      return this;
    }
    /** What is drawn, without its frame. */
    get body() {
      const defs = this.#defs.length > 0 ? `<defs>${this.#defs.join("")}</defs>
` : "";
      return defs + this.#marks.join("");
    }
    /** As fine as the screen is: a file is as fine as it likes. */
    setTransform(ratio) {
      this.width /= ratio;
      this.height /= ratio;
    }
    clearRect() {
      this.#marks = [];
    }
    save() {
      this.#kept.push({ alpha: this.globalAlpha, dash: this.#dash, clip: this.#clip });
    }
    restore() {
      const kept = this.#kept.pop();
      if (kept) [this.globalAlpha, this.#dash, this.#clip] = [kept.alpha, kept.dash, kept.clip];
    }
    setLineDash(dash) {
      this.#dash = dash;
    }
    beginPath() {
      this.#path = "";
    }
    moveTo(x, y) {
      this.#path += `M${at(x)} ${at(y)}`;
    }
    lineTo(x, y) {
      this.#path += `${this.#path === "" ? "M" : "L"}${at(x)} ${at(y)}`;
    }
    closePath() {
      this.#path += "Z";
    }
    rect(x, y, width2, height) {
      this.#path += `M${at(x)} ${at(y)}h${at(width2)}v${at(height)}h${at(-width2)}Z`;
    }
    clip() {
      const name2 = `${this.#name}-${this.#defs.length}`;
      this.#defs.push(`<clipPath id="${name2}"><path d="${this.#path}"/></clipPath>`);
      this.#clip = name2;
    }
    /** A fill that repeats a small picture. */
    createPattern(picture) {
      const name2 = `${this.#name}-${this.#defs.length}`;
      const size = `width="${picture.width}" height="${picture.height}"`;
      this.#defs.push(`<pattern id="${name2}" patternUnits="userSpaceOnUse" ${size}><image href="${picture.toDataURL()}" ${size}/></pattern>`);
      return { name: name2 };
    }
    #paint(style) {
      return typeof style === "string" ? escaped(style) : `url(${"#"}${style.name})`;
    }
    #put(mark2) {
      const alpha = this.globalAlpha < 1 ? ` opacity="${at(this.globalAlpha)}"` : "";
      const clip = this.#clip ? ` clip-path="url(${"#"}${this.#clip})"` : "";
      this.#marks.push(`<${mark2}${alpha}${clip}/>
`);
    }
    #stroke() {
      const dash = this.#dash.length > 0 ? ` stroke-dasharray="${this.#dash.join(" ")}"` : "";
      const cap = this.lineCap === "butt" ? "" : ` stroke-linecap="${this.lineCap}"`;
      return `fill="none" stroke="${this.#paint(this.strokeStyle)}" stroke-width="${at(this.lineWidth)}"${dash}${cap}`;
    }
    stroke() {
      if (this.#path !== "") this.#put(`path d="${this.#path}" ${this.#stroke()}`);
    }
    fill() {
      if (this.#path !== "") this.#put(`path d="${this.#path}" fill="${this.#paint(this.fillStyle)}"`);
    }
    fillRect(x, y, width2, height) {
      const [top, tall] = height < 0 ? [y + height, -height] : [y, height];
      this.#put(`rect x="${at(x)}" y="${at(top)}" width="${at(width2)}" height="${at(tall)}" fill="${this.#paint(this.fillStyle)}"`);
    }
    strokeRect(x, y, width2, height) {
      this.#put(`rect x="${at(x)}" y="${at(y)}" width="${at(width2)}" height="${at(height)}" ${this.#stroke()}`);
    }
    fillText(words, x, y) {
      const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign] ?? "start";
      const size = Number.parseFloat(this.font) || 10;
      const alpha = this.globalAlpha < 1 ? ` opacity="${at(this.globalAlpha)}"` : "";
      const middle = this.textBaseline === "middle" ? size * 0.36 : 0;
      this.#marks.push(`<text x="${at(x)}" y="${at(y + middle)}" font-size="${at(size)}" text-anchor="${anchor}" fill="${this.#paint(this.fillStyle)}"${alpha}>${escaped(String(words))}</text>
`);
    }
  };

  // machine/words.js
  var jobs = (count) => count === 1 ? "1 job" : `${number(count)} jobs`;
  var verb = (count, one, more) => count === 1 ? one : more;
  var name = (run, job) => `job ${run.number[job]}`;
  var list = (texts) => texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts[texts.length - 1]}`;
  function summary(run, moment) {
    const share = Math.round(100 * moment.held / run.processors);
    const sentences = [
      `Time ${number(moment.time)}: ${number(moment.held)} of ${number(run.processors)} processors are held (${share} %), ${number(run.processors - moment.held)} are free; ${jobs(moment.runs)} ${verb(moment.runs, "runs", "run")}, ${number(moment.waits)} ${verb(moment.waits, "waits", "wait")}.`
    ];
    if (run.sites.length > 1) {
      const held = run.sites.map(() => 0);
      for (const s of moment.running) held[run.where[s]] += run.heldBy[s];
      sentences.push(`Held: ${run.sites.map((site, i) => `${held[i]} of ${site.nodes} on site ${i + 1}`).join(", ")}.`);
    }
    const holders = largest(run, moment, 3).map((s) => `${name(run, run.who[s])} with ${number(run.heldBy[s])}`);
    if (holders.length > 0) sentences.push(`The largest: ${list(holders)}.`);
    if (moment.waiting.length > 0) {
      const first = moment.waiting[0];
      sentences.push(`First in the queue: ${name(run, first)}, which asks for ${asks(run, first)}.`);
    }
    if (moment.notServed > 0) {
      sentences.push(`${jobs(moment.notServed)} could not be served so far.`);
    }
    return sentences.join(" ");
  }
  function largest(run, moment, most) {
    const bySize = (a, b) => run.heldBy[b] - run.heldBy[a] || a - b;
    return [...moment.running].sort(bySize).slice(0, most);
  }
  function asks(run, job) {
    const { text: text2, nodes } = run.asked[run.request[job]];
    const count = `${number(nodes)} ${verb(nodes, "processor", "processors")}`;
    return text2 === String(nodes) ? count : `${text2} (${count})`;
  }
  function facts(run, job) {
    const { until } = run.recording;
    const known = (time) => time <= until;
    const texts = [`Job ${run.number[job]} asks for ${asks(run, job)} and arrives at ${number(run.submit[job])}.`];
    if (run.unserved[job] === 1) texts.push("It would not fit even the empty machine, and is refused.");
    else if (run.unserved[job] === 2) texts.push(`It is turned away at ${number(run.left[job])}.`);
    else if (!known(run.start[job])) texts.push("It does not start in the time that is shown.");
    else {
      const stays = run.staysOf(job);
      const [first, last] = [stays[0], stays[stays.length - 1]];
      const site = run.sites.length > 1 ? ` on site ${run.where[first] + 1}` : "";
      const places = run.placeOf(first);
      const more = places.length > 4 ? ` and ${places.length - 4} more pieces` : "";
      texts.push(
        `It waits ${number(run.start[job] - run.submit[job])} and starts at ${number(run.start[job])}${site} with ${number(run.heldBy[first])} ${verb(run.heldBy[first], "processor", "processors")}: ${places.slice(0, 4).join("; ")}${more}.`
      );
      if (stays.length > 1) {
        const times = stays.length === 2 ? "once" : `${stays.length - 1} times`;
        texts.push(`It is moved or resized ${times}, and then holds ${number(run.heldBy[last])}.`);
      }
      texts.push(
        known(run.finish[job]) ? `It ends at ${number(run.finish[job])}, after ${number(run.finish[job] - run.start[job])}.` : "It still runs at the end of what is shown."
      );
    }
    return texts.join(" ");
  }
  function siteName(run, site) {
    const { words, speed } = run.sites[site];
    const which = run.sites.length > 1 ? `Site ${site + 1}: ` : "";
    return `${which}${words}${speed === 1 ? "" : `, speed ${number(speed)}`}`;
  }
  function lanes(run) {
    const ordered = run.sites.filter((site) => site.sides.length === 1).length;
    if (ordered === run.sites.length) return " on the processors that it holds";
    if (ordered === 0) return " on a lane of its own";
    return ", on sites of one dimension on the processors that it holds, elsewhere on a lane of its own";
  }
  function legend(site) {
    if (site.wiring === "hypercube") {
      return "The hypercube is drawn as a Karnaugh map: processors side by side differ in one bit, so a subcube is made of few rectangles.";
    }
    const joined = site.wiring === "torus" ? " Dashed edges are joined to the opposite ones." : "";
    if (site.sides.length === 1) return "Processors are numbered along the rows.";
    if (site.sides.length === 2) return `Processor 0,0 is at the top left.${joined}`;
    return `Each layer is a plane of the first two dimensions, with the further coordinates above it.${joined}`;
  }

  // machine/save.js
  var MARGIN2 = 12;
  var HEAD = 20;
  function sheet(drawings, theme2) {
    const width2 = Math.max(...drawings.map(({ canvas }) => canvas.width)) + 2 * MARGIN2;
    let [y, body] = [MARGIN2, ""];
    for (const { words, canvas } of drawings) {
      body += text([MARGIN2, y + 13], words, theme2.ink);
      body += `<g transform="translate(${MARGIN2} ${at(y + HEAD)})">
${canvas.body}</g>
`;
      y += HEAD + canvas.height + MARGIN2;
    }
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${at(width2)}" height="${at(y)}" viewBox="0 0 ${at(width2)} ${at(y)}" font-family="${FONT}" font-size="12">
${rect([0, 0, width2, y], theme2.ground)}${body}</svg>
`;
  }
  function mapSvg(run, layouts2, moment, chosen, theme2) {
    const own = { ...theme2, tiles: /* @__PURE__ */ new Map() };
    const drawings = layouts2.map((layout2, site) => {
      const canvas = new SvgCanvas(`site${site}`);
      new SiteMap(run, site, canvas).draw(layout2, moment, chosen, { ...own, tiles: /* @__PURE__ */ new Map() });
      return { words: siteName(run, site), canvas };
    });
    return sheet(drawings, own);
  }
  function ganttSvg(gantt, theme2, width2, height, chosen) {
    const canvas = new SvgCanvas("gantt");
    gantt.draw(canvas, { ...theme2, tiles: /* @__PURE__ */ new Map() }, width2, height, chosen);
    return sheet([{ words: "Gantt chart", canvas }], theme2);
  }
  function momentCsv(run, moment) {
    const whole2 = run.moment(moment.time, Infinity);
    const asks2 = (job) => run.asked[run.request[job]].text;
    const known = (time) => time <= run.recording.until ? time : null;
    const running = whole2.running.map((s) => {
      const job = run.who[s];
      return [run.number[job], "runs", asks2(job), run.submit[job], run.start[job], known(run.finish[job]), run.where[s] + 1, run.heldBy[s], run.placeOf(s).join(" ")];
    });
    const waiting = whole2.waiting.map((job) => [run.number[job], "waits", asks2(job), run.submit[job]]);
    return csv([["job", "state", "asks", "submit", "start", "end", "site", "processors", "placement"], ...running, ...waiting]);
  }
  function saveButtons(player) {
    const name2 = (what) => fileName(what, player.run.recording.title, `time ${number(player.time)}`);
    const map = () => mapSvg(player.run, player.layouts, player.moment, player.chosen, player.theme);
    const chart = () => ganttSvg(player.gantt, player.theme, player.width, player.chart.clientHeight, player.chosen);
    const acts = (
      /** @type {[string, string, () => void][]} */
      [
        ["SVG", "Save the map as SVG", () => handText(`${name2("map")}.svg`, map(), "image/svg+xml")],
        ["PNG", "Save the map as PNG", async () => hand(`${name2("map")}.png`, await png(map()))],
        ["CSV", "Save who runs and who waits as CSV", () => handText(`${name2("jobs")}.csv`, momentCsv(player.run, player.moment), "text/csv")],
        ["chart as SVG", "Save the Gantt chart as SVG", () => {
          handText(`${name2("gantt")}.svg`, chart(), "image/svg+xml");
          player.drawChart();
        }],
        ["chart as PNG", "Save the Gantt chart as PNG", async () => {
          const svg = chart();
          player.drawChart();
          hand(`${name2("gantt")}.png`, await png(svg));
        }]
      ]
    );
    const buttons = acts.map(([words, title, act]) => {
      const button = make("button", { type: "button", title, "aria-label": title }, words);
      button.addEventListener("click", act);
      return button;
    });
    return make("p", { class: "save" }, "Save: ", ...buttons);
  }

  // machine/player.js
  var STEPS = 1e5;
  var LISTED = 20;
  var CAPTION = 44;
  var BESIDE = 400;
  var PATIENCE = 120;
  var PACES = [1, 4, 20, 100, 500];
  var make2 = (tag2, attributes, ...children) => {
    const element = document.createElement(tag2);
    for (const [name2, value] of Object.entries(attributes || {})) {
      if (name2.startsWith("on")) element.addEventListener(name2.slice(2), value);
      else if (value !== false && value !== void 0) element.setAttribute(name2, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  };
  var icon = (path2) => {
    const [svg, shape] = ["svg", "path"].map((tag2) => document.createElementNS("http://www.w3.org/2000/svg", tag2));
    svg.setAttribute("viewBox", "0 0 14 14");
    svg.setAttribute("class", "m-icon");
    svg.setAttribute("aria-hidden", "true");
    shape.setAttribute("d", path2);
    svg.append(shape);
    return svg;
  };
  var write = (element, text2) => {
    if (element.textContent !== text2) element.textContent = text2;
  };
  function drawMachine(element, recordings) {
    const player = new Player(element, [].concat(recordings));
    element.machine = player;
    return player;
  }
  var Player = class {
    /** @type {HTMLElement} */
    root;
    /** @type {any[]} */
    recordings;
    /** @type {HTMLButtonElement} */
    first;
    /** @type {HTMLButtonElement} */
    back;
    /** @type {HTMLButtonElement} */
    playing;
    /** @type {HTMLButtonElement} */
    on;
    /** @type {HTMLButtonElement} */
    last;
    /** @type {HTMLButtonElement} */
    closer;
    /** @type {HTMLButtonElement} */
    wider;
    /** @type {HTMLButtonElement} */
    whole;
    constructor(root, recordings) {
      Object.assign(this, { root, recordings, chosen: -1, isPlaying: false, time: NaN, listed: 0 });
      root.classList.add("machine");
      root.replaceChildren();
      this.build();
      this.watch();
      this.ready = this.choose(0);
    }
    build() {
      const button = (name2, label, title2, act) => this[name2] = make2("button", { type: "button", title: title2, "aria-label": title2, onclick: act }, label);
      const title = (recording) => {
        const replication = recording.replication > 1 ? `, replication ${recording.replication}` : "";
        return `${recording.scenario}. ${recording.title || "the only scenario"}${replication}`;
      };
      this.runs = make2(
        "select",
        { onchange: () => this.choose(this.runs.selectedIndex) },
        ...this.recordings.map((recording) => make2("option", {}, title(recording)))
      );
      const chooser2 = make2("label", { class: "m-runs" }, "Run ", this.runs);
      chooser2.hidden = this.recordings.length < 2;
      this.notes = make2("p", { class: "m-notes" });
      this.sites = make2("div", { class: "m-sites" });
      this.legend = make2("p", { class: "m-legend" });
      this.now = make2("p", { class: "m-now" });
      this.said = make2("p", { class: "m-unseen", role: "status", "aria-live": "polite" });
      button("first", icon("M2 2h2v10H2zM12 2v10L5 7z"), "To the beginning", () => this.seek(this.run.recording.from));
      button("back", icon("M11 2v10L3 7z"), "To the event before (left arrow)", () => this.step(-1));
      button("playing", "", "", () => this.toggle());
      button("on", icon("M3 2l8 5-8 5z"), "To the next event (right arrow)", () => this.step(1));
      button("last", icon("M2 2l7 5-7 5zM10 2h2v10h-2z"), "To the end", () => this.seek(this.run.recording.until));
      this.playing.className = "m-play";
      this.pace = make2(
        "select",
        { "aria-label": "How fast it plays" },
        ...PACES.map((pace) => make2("option", { value: pace }, `${pace} ${pace === 1 ? "event" : "events"} a second`))
      );
      this.slider = make2("input", {
        type: "range",
        min: 0,
        max: STEPS,
        step: 1,
        "aria-label": "Time of the run",
        oninput: () => this.soon(this.timeOf(Number(this.slider.value) / STEPS))
      });
      const controls = make2(
        "div",
        { class: "m-controls", role: "group", "aria-label": "Play the run" },
        this.first,
        this.back,
        this.playing,
        this.on,
        this.last,
        this.pace
      );
      this.plots = make2("canvas", { role: "img" });
      this.plotsLine = make2("div", { class: "m-line" });
      this.seen = make2("div", { class: "m-seen" });
      const plots = this.plotsBox = make2("div", { class: "m-plots" }, this.plots, this.seen, this.plotsLine);
      this.chart = make2("canvas", { tabindex: 0, role: "img" });
      this.chartLine = make2("div", { class: "m-line" });
      this.chartBox = make2("div", { class: "m-chart" }, this.chart, this.chartLine);
      button("closer", "+", "Look closer (plus)", () => this.zoom(0.5));
      button("wider", "−", "See more (minus)", () => this.zoom(2));
      button("whole", "Whole run", "See the whole run (0)", () => this.zoom(Infinity));
      this.chartWords = make2("span", {});
      const chart = make2(
        "figure",
        { class: "m-gantt" },
        make2(
          "figcaption",
          {},
          this.chartWords,
          make2(
            "span",
            { class: "m-zoom", role: "group", "aria-label": "Zoom of the Gantt chart" },
            this.closer,
            this.wider,
            this.whole
          )
        ),
        this.chartBox
      );
      this.facts = make2("p", { class: "m-facts", role: "status", "aria-live": "polite" });
      this.toStart = make2("button", { type: "button", onclick: () => this.seekStart() }, "Go to its start");
      this.letGo = make2("button", { type: "button", onclick: () => this.pick(-1) }, "Let it go");
      this.job = make2("div", { class: "m-job" }, this.facts, this.toStart, this.letGo);
      this.running = list2("Running", ["Job", "Holds", "Asks", "Since", "Until"], this);
      this.waiting = list2("Waiting", ["Job", "Asks", "Since"], this);
      const lists = make2("div", { class: "m-lists" }, this.running.box, this.waiting.box);
      this.tip = make2("div", { class: "m-tip", hidden: true, "aria-hidden": "true" });
      this.stage = make2(
        "div",
        { class: "m-stage" },
        this.now,
        make2("div", { class: "m-maps" }, this.sites, this.legend),
        make2("div", { class: "m-time" }, controls, this.slider, plots),
        this.job,
        chart,
        lists,
        saveButtons(this)
      );
      this.root.append(chooser2, this.notes, this.stage, this.said, this.tip);
    }
    // Everything that somebody does beside pressing buttons.
    watch() {
      this.stage.addEventListener("keydown", (event) => this.key(event));
      const again = () => this.run && this.arrange();
      new ResizeObserver(() => requestAnimationFrame(() => {
        if (this.root.clientWidth !== this.width && this.root.clientWidth > 0) again();
      })).observe(this.root);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
      new MutationObserver(again).observe(document.documentElement, {
        attributes: true,
        attributeFilter: ["data-theme", "class", "style"]
      });
      const onPaper = (is) => {
        this.root.classList.toggle("m-paper", is);
        again();
      };
      addEventListener("beforeprint", () => onPaper(true));
      addEventListener("afterprint", () => onPaper(false));
      drag(this.plots, (x) => this.soon(this.timeOf((x - PAD) / (this.width - 2 * PAD))));
      this.watchChart();
    }
    watchChart() {
      let held = null;
      const { chart } = this;
      chart.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        held = { x: event.offsetX, moved: false };
        chart.setPointerCapture(event.pointerId);
      });
      chart.addEventListener("pointermove", (event) => {
        if (!held) {
          this.hint(event, this.gantt.at(event.offsetX, event.offsetY));
          return;
        }
        if (Math.abs(event.offsetX - held.x) > 3) held.moved = true;
        if (!held.moved) return;
        this.gantt.pan(this.gantt.time(held.x) - this.gantt.time(event.offsetX));
        held.x = event.offsetX;
        this.drawChart();
      });
      chart.addEventListener("pointerup", (event) => {
        if (held && !held.moved) {
          this.pick(this.gantt.at(event.offsetX, event.offsetY));
          this.seek(this.gantt.time(event.offsetX));
        }
        held = null;
      });
      chart.addEventListener("pointercancel", () => held = null);
      chart.addEventListener("pointerleave", () => this.hint(null, -1));
      chart.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.gantt.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.gantt.time(event.offsetX));
        this.drawChart();
      }, { passive: false });
    }
    // Turns to another run, at the same time where it has that: so that two policies can be compared.
    async choose(index) {
      this.pause();
      const recording = this.recordings[index];
      try {
        this.opened = this.opened || /* @__PURE__ */ new Map();
        if (!this.opened.has(index)) this.opened.set(index, await open(recording));
      } catch (error) {
        this.stage.hidden = true;
        this.notes.replaceChildren(make2("span", {}, error.message));
        return;
      }
      const run = this.opened.get(index);
      this.run = run;
      this.runs.selectedIndex = index;
      this.chosen = -1;
      this.tellJob();
      this.gantt = new Gantt(run);
      this.stage.hidden = false;
      this.notes.replaceChildren(...recording.notes.map((note) => make2("span", {}, `${note} `)));
      this.notes.hidden = recording.notes.length === 0;
      this.maps = run.sites.map((site, i) => this.siteFigure(site, i));
      this.sites.replaceChildren(...this.maps.map((map) => map.figure));
      const legends = new Set(run.sites.map(legend));
      write(this.legend, legends.size === 1 ? [...legends][0] : "");
      const { from, until } = recording;
      const isInside = this.time >= from && this.time <= until;
      if (!isInside) this.time = run.busiest(0.2, 0.4);
      write(this.chartWords, `Gantt chart: each bar is a job${lanes(run)}. Drag to move, Ctrl and wheel to zoom, click a job to follow it.`);
      this.pace.selectedIndex = run.at.length > 2e3 ? 2 : 1;
      const most = 160;
      if (run.jobs > most) {
        this.gantt.show(this.time - (until - from) * most / run.jobs / 2, (until - from) * most / run.jobs);
      }
      this.arrange();
      this.tell();
    }
    siteFigure(site, index) {
      const canvas = make2("canvas", { role: "img", "aria-label": `Map of ${siteName(this.run, index)}` });
      const held = make2("span", { class: "m-held" });
      const caption = make2("figcaption", {}, make2("strong", {}, siteName(this.run, index)), " ", held);
      const map = new SiteMap(this.run, index, canvas);
      canvas.addEventListener("pointermove", (event) => {
        const at2 = map.at(event.offsetX, event.offsetY);
        this.hint(event, at2.job, at2.node);
      });
      canvas.addEventListener("pointerleave", () => this.hint(null, -1));
      canvas.addEventListener("click", (event) => this.pick(map.at(event.offsetX, event.offsetY).job));
      return Object.assign(map, { held, figure: make2("figure", {}, canvas, caption) });
    }
    // Gives everything its size, and draws it.
    arrange() {
      this.theme = theme(this.root);
      this.width = this.root.clientWidth;
      const height = Math.min(520, Math.max(260, globalThis.innerHeight * 0.6));
      const fit = (room) => layouts(this.run.sites, Math.max(200, room), height, CAPTION);
      const [below, beside] = [fit(this.width), fit(this.width - BESIDE)];
      const isBeside = this.width > 2 * BESIDE && beside[0].cell >= 0.7 * below[0].cell;
      this.layouts = isBeside ? beside : below;
      const widest = this.maps.length > 1 ? this.width - BESIDE : this.layouts[0].width;
      this.stage.classList.toggle("m-beside", isBeside);
      this.stage.style.setProperty("--m-widest", `${widest}px`);
      this.now.style.minHeight = "";
      this.longest = 0;
      this.drawPlots();
      this.drawChart();
      this.draw();
    }
    // What does not change with the time.
    drawPlots() {
      const { run, theme: theme2, width: width2 } = this;
      drawPlots(this.plots, run, theme2, width2);
      this.plots.setAttribute("aria-label", `Over the time of the run, the processors held, of ${run.processors}, and the number of jobs that wait, at most ${run.mostWaiting}.`);
    }
    drawChart() {
      const { run, theme: theme2, width: width2 } = this;
      const height = Math.min(420, Math.max(150, 60 + this.gantt.bands.reduce((sum, band) => sum + band.lanes, 0) * 14));
      this.gantt.draw(this.chart, theme2, width2, height, this.chosen);
      const { from, until } = this.gantt.view;
      this.chart.setAttribute("aria-label", `Gantt chart of ${run.jobs} jobs, from time ${number(from)} to ${number(until)}. The lists have the same jobs as text.`);
      this.drawLines();
    }
    // Where on the axis of the slider a time is.
    x(time) {
      const { from, until } = this.run.recording;
      return PAD + (until > from ? (time - from) / (until - from) : 0) * Math.floor(this.width - 2 * PAD);
    }
    drawLines() {
      const { recording } = this.run;
      const { from, until } = this.gantt.view;
      this.plotsLine.style.transform = `translateX(${this.x(this.time)}px)`;
      this.seen.hidden = from <= recording.from && until >= recording.until;
      this.seen.style.transform = `translateX(${this.x(from)}px)`;
      this.seen.style.width = `${Math.max(2, this.x(until) - this.x(from))}px`;
      const x = this.gantt.x(this.time);
      this.chartLine.style.transform = `translateX(${x}px)`;
      this.chartLine.hidden = x < PAD - 1 || x > this.width - PAD + 1;
    }
    // The moment: the maps, the words and the lists.
    draw() {
      const { run } = this;
      const moment = this.moment = run.moment(this.time, LISTED);
      this.maps.forEach((map, i) => {
        map.draw(this.layouts[i], moment, this.chosen, this.theme);
        let held = 0;
        for (const s of moment.running) if (run.where[s] === i) held += run.heldBy[s];
        write(map.held, `${number(held)} of ${number(run.sites[i].nodes)} held`);
      });
      this.say(summary(run, moment));
      const { from, until } = run.recording;
      const place2 = until > from ? Math.round((this.time - from) / (until - from) * STEPS) : 0;
      if (Number(this.slider.value) !== place2) this.slider.value = place2;
      this.slider.setAttribute(
        "aria-valuetext",
        `time ${number(this.time)}, ${moment.held} of ${run.processors} processors held`
      );
      this.drawLines();
      this.listSoon();
    }
    // The words keep the room that the longest of them took: what stands below must not dance.
    say(text2) {
      write(this.now, text2);
      if (text2.length <= this.longest) return;
      this.longest = text2.length;
      this.now.style.minHeight = `${this.now.offsetHeight}px`;
    }
    // Tables take longest to be set anew, and nobody reads them while they run by: eight times a second will do.
    listSoon() {
      clearTimeout(this.listing);
      if (performance.now() - this.listed < PATIENCE) this.listing = setTimeout(() => this.drawLists(), PATIENCE);
      else this.drawLists();
    }
    drawLists() {
      this.listed = performance.now();
      const { run, moment } = this;
      const isOne = run.sites.length === 1;
      const holds = (s) => isOne ? String(run.heldBy[s]) : `${run.heldBy[s]} on ${run.where[s] + 1}`;
      const until = (job) => run.finish[job] <= run.recording.until ? short(run.finish[job]) : "the end";
      write(this.running.heads[1], isOne ? "Holds" : "Holds, on site");
      this.waiting.fill(moment.waits, moment.waiting.map((job) => ({ job, cells: [run.asked[run.request[job]].text, short(run.submit[job])] })));
      this.running.fill(moment.runs, largest(run, moment, LISTED).map((s) => {
        const job = run.who[s];
        const cells = [holds(s), run.asked[run.request[job]].text, short(run.start[job]), until(job)];
        return { job, look: run.look[job], cells };
      }));
    }
    timeOf(share) {
      const { from, until } = this.run.recording;
      return from + Math.min(Math.max(share, 0), 1) * (until - from);
    }
    // Goes to a time; whoever goes there by hand stops the play.
    seek(time, by) {
      if (by !== "play") this.pause();
      const { from, until } = this.run.recording;
      this.time = Math.min(Math.max(time, from), until);
      if (this.gantt.follow(this.time)) this.drawChart();
      this.draw();
      if (by !== "play") this.tell();
    }
    // The same with the next frame: a hand may be faster than the screen.
    soon(time) {
      if (this.wanted === void 0) {
        requestAnimationFrame(() => {
          this.seek(this.wanted);
          this.wanted = void 0;
        });
      }
      this.wanted = time;
    }
    step(direction) {
      this.seek(this.run.neighbour(this.time, direction));
    }
    seekStart() {
      if (this.chosen >= 0) this.seek(Math.min(this.run.start[this.chosen], this.run.recording.until));
    }
    // Says the moment aloud once it has stood still for a while.
    tell() {
      clearTimeout(this.telling);
      this.telling = setTimeout(() => write(this.said, this.now.textContent), 600);
    }
    toggle() {
      if (this.isPlaying) {
        this.pause();
        this.tell();
        return;
      }
      const { from, until } = this.run.recording;
      if (this.time >= until) this.time = from;
      this.isPlaying = true;
      this.label();
      let before2 = performance.now();
      const frame = (now) => {
        if (!this.isPlaying) return;
        const pace = Number(this.pace.value) / Math.max(1, this.run.at.length);
        const time = this.time + (now - before2) / 1e3 * pace * (until - from);
        before2 = now;
        this.seek(time, "play");
        if (time >= until) this.toggle();
        else requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    }
    pause() {
      this.isPlaying = false;
      this.label();
    }
    label() {
      const text2 = this.isPlaying ? "Pause" : "Play";
      if (this.playing.textContent.trim() === text2) return;
      this.playing.replaceChildren(icon(this.isPlaying ? "M3 2h3v10H3zM8 2h3v10H8z" : "M3 2l8 5-8 5z"), ` ${text2}`);
      this.playing.title = `${text2} (space)`;
      this.playing.setAttribute("aria-label", this.playing.title);
    }
    // Follows a job everywhere; -1 follows none.
    pick(job) {
      this.chosen = job === this.chosen ? -1 : job;
      this.tellJob();
      this.drawChart();
      this.draw();
    }
    tellJob() {
      const { run, chosen } = this;
      const invitation = "Choose a job, on the map, in the chart or in a list, to see where it is.";
      write(this.facts, chosen < 0 ? invitation : facts(run, chosen));
      this.job.classList.toggle("m-empty", chosen < 0);
      this.letGo.hidden = chosen < 0;
      this.toStart.hidden = chosen < 0 || !(run.start[chosen] <= run.recording.until);
    }
    zoom(factor) {
      const { from, until } = this.gantt.view;
      const around = this.time >= from && this.time <= until ? this.time : (from + until) / 2;
      this.gantt.zoom(Math.min(factor, 1e12), around);
      this.drawChart();
    }
    key(event) {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const is = (...elements) => elements.includes(event.target);
      if (event.target.tagName === "SELECT") return;
      const { from, until } = this.run.recording;
      const leap = (until - from) / 50;
      const acts = {
        ArrowRight: () => this.step(1),
        ArrowUp: is(this.slider) && (() => this.step(1)),
        ArrowLeft: () => this.step(-1),
        ArrowDown: is(this.slider) && (() => this.step(-1)),
        PageUp: is(this.slider, this.chart) && (() => this.seek(this.time + leap)),
        PageDown: is(this.slider, this.chart) && (() => this.seek(this.time - leap)),
        Home: is(this.slider, this.chart) && (() => this.seek(from)),
        End: is(this.slider, this.chart) && (() => this.seek(until)),
        " ": event.target.tagName !== "BUTTON" && (() => this.toggle()),
        Escape: this.chosen >= 0 && (() => this.pick(-1)),
        "+": () => this.zoom(0.5),
        "=": () => this.zoom(0.5),
        "-": () => this.zoom(2),
        0: () => this.zoom(Infinity)
      };
      if (!acts[event.key]) return;
      event.preventDefault();
      acts[event.key]();
    }
    // A word beside the pointer.
    hint(event, job, node = -1) {
      const { run, tip } = this;
      tip.hidden = !event || job < 0 && node < 0;
      if (tip.hidden) return;
      const what = job < 0 ? "free" : `job ${run.number[job]}, ${asks(run, job)}, from ${number(run.start[job])}`;
      write(tip, node < 0 ? what : `processor ${node}: ${what}`);
      const box = this.root.getBoundingClientRect();
      const x = Math.min(event.clientX - box.left + 14, this.width - tip.offsetWidth);
      tip.style.transform = `translate(${Math.max(0, x)}px, ${event.clientY - box.top + 16}px)`;
    }
  };
  function list2(title, columns2, player) {
    const heading = make2("caption", {});
    const heads = columns2.map((column2) => make2("th", { scope: "col" }, column2));
    const body = make2("tbody", {});
    const more = make2("p", { class: "m-more" });
    const rows2 = [];
    const row = () => {
      const swatch = make2("span", { class: "m-swatch", "aria-hidden": "true" });
      const name2 = make2("span", {});
      const button = make2("button", { type: "button" }, swatch, name2);
      const cells = columns2.slice(1).map(() => make2("td", {}));
      const line2 = { swatch, name: name2, button, cells, job: -1, element: make2("tr", {}, make2("th", { scope: "row" }, button), ...cells) };
      button.addEventListener("click", () => player.pick(line2.job));
      rows2.push(line2);
      body.append(line2.element);
    };
    const table = make2(
      "table",
      {},
      heading,
      make2("thead", {}, make2("tr", {}, ...heads)),
      body
    );
    const fill3 = (count, jobs2) => {
      write(heading, `${title}: ${number(count)}`);
      table.classList.toggle("m-none", jobs2.length === 0);
      while (rows2.length < jobs2.length) row();
      rows2.forEach((line2, i) => {
        const one = jobs2[i];
        if (line2.element.hidden !== !one) line2.element.hidden = !one;
        if (!one) return;
        line2.job = one.job;
        write(line2.name, String(player.run.number[one.job]));
        line2.swatch.hidden = one.look === void 0;
        line2.swatch.className = `m-swatch m-look-${(one.look || 0) % COLOURS2} m-pattern-${Math.floor((one.look || 0) / COLOURS2)}`;
        const isChosen = String(one.job === player.chosen);
        if (line2.button.getAttribute("aria-pressed") !== isChosen) line2.button.setAttribute("aria-pressed", isChosen);
        one.cells.forEach((text2, k) => write(line2.cells[k], text2));
      });
      write(more, count > jobs2.length ? `and ${number(count - jobs2.length)} more` : "");
    };
    return { box: make2("div", { class: "m-list" }, table, more), heads, fill: fill3 };
  }
  function drag(canvas, tell) {
    let isHeld = false;
    const at2 = (event) => tell(event.clientX - canvas.getBoundingClientRect().left);
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      isHeld = true;
      canvas.setPointerCapture(event.pointerId);
      at2(event);
    });
    canvas.addEventListener("pointermove", (event) => isHeld && at2(event));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => isHeld = false);
  }

  // report/paper.js
  var ROWS = 60;
  var VIEWS = 12;
  var SHEET = 680;
  var HALF = 328;
  var undo = [];
  function before() {
    if (undo.length > 0) return;
    drawRest();
    for (const details of document.querySelectorAll("details:not([open])")) {
      const isTable = details.classList.contains("numbers");
      const isShort = details.querySelectorAll("tbody tr").length <= ROWS;
      if (!(details instanceof HTMLDetailsElement) || details.closest("figure, nav") || isTable && !isShort) continue;
      details.open = true;
      undo.push(() => details.open = false);
    }
    for (const { element, figure: figure2, chosen } of shownFigures()) {
      const now = figure2.choices.map((choice) => Math.max(0, choice.values.indexOf(chosen.get(choice.key) ?? "")));
      const metric = figure2.choices.findIndex((choice) => choice.key === "metric");
      drawFor(element, metric >= 0 || element.classList.contains("wide") ? SHEET : HALF);
      undo.push(() => drawFor(element, null));
      if (metric < 0) continue;
      const others = figure2.views.filter((view) => view.at.every((at2, i) => i === metric ? at2 !== now[i] : at2 === now[i])).slice(0, VIEWS);
      const place2 = make("div", { class: "others" });
      for (const view of others) {
        const panels = make("div", { class: "panels" });
        const isWide = new Set(view.series.map((series) => series.panel)).size > 1;
        const box = make("figure", isWide ? { class: "wide" } : {}, make("h4", {}, view.y.label), panels, make("figcaption", {}, sentenceOf(view, isLog(view))));
        if (view.colour) panels.before(legendElement(view));
        drawPanels(panels, view, isLog(view), isWide ? SHEET : HALF);
        place2.append(box);
      }
      element.append(place2);
      undo.push(() => place2.remove());
    }
    for (const table of document.querySelectorAll("details.numbers[open] table")) {
      if (table instanceof HTMLTableElement) split(table);
    }
  }
  function split(table) {
    const head = table.tHead?.rows[0], rows2 = [...table.tBodies[0]?.rows ?? []];
    if (!head || rows2.length === 0) return;
    const keys = [...rows2[0].cells].findIndex((cell2) => cell2.tagName === "TH") + 1;
    const widths = [...head.cells].map((cell2) => cell2.offsetWidth);
    const own = widths.slice(0, keys).reduce((sum, width2) => sum + width2, 0);
    const parts = (
      /** @type {number[][]} */
      [[]]
    );
    let taken = own;
    for (let column2 = keys; column2 < widths.length; column2 += 1) {
      if (taken + widths[column2] > SHEET && parts[parts.length - 1].length > 0) {
        parts.push([]);
        taken = own;
      }
      parts[parts.length - 1].push(column2);
      taken += widths[column2];
    }
    if (parts.length < 2) return;
    const place2 = make("div", { class: "parts" });
    for (const columns2 of parts) {
      const copy = (
        /** @type {HTMLTableElement} */
        table.cloneNode(true)
      );
      copy.removeAttribute("id");
      for (const row of copy.rows) {
        [...row.cells].forEach((cell2, i) => {
          if (i >= keys && !columns2.includes(i)) cell2.remove();
        });
      }
      if (columns2 !== parts[0]) find(copy, "caption").remove();
      place2.append(copy);
    }
    table.after(place2);
    table.hidden = true;
    undo.push(() => {
      place2.remove();
      table.hidden = false;
    });
  }
  function after() {
    for (const step of undo.splice(0)) step();
  }
  function preparePaper() {
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
  }

  // main.js
  var data = document.getElementById("report-data");
  if (data) drawFigures(document, JSON.parse(data.textContent ?? "{}"));
  followLinks();
  preparePaper();
  for (const recordings of document.querySelectorAll("script.recordings")) {
    drawMachine(
      /** @type {HTMLElement} */
      recordings.previousElementSibling,
      JSON.parse(recordings.textContent ?? "[]")
    );
  }
  if (document.getElementById("live-state")) look2();
  Object.assign(globalThis, { drawFigures });
})();
