// What `Report::data` gives: see `src/report/figures.rs`, where each field is described.

export interface Data { sections: { id: string; figures: Figure[]; findings?: Finding[] }[] }

export interface Figure { id: string; heading: string; choices: Choice[]; views: View[] }

export interface Choice { key: string; label: string; values: string[]; first?: number }

/** A sentence that holds for these values of the choosers, by key. */
export interface Finding { text: string; is_clear: boolean; at: [string, string][] }

export type Style = "lines" | "points" | "rows" | "steps";

export interface Scale {
  label: string;
  key?: string;
  unit?: string;
  log?: boolean;
  names?: string[];
  colours?: number[];
  grid?: number[];
  /** Which dates its numbers are, where that is known. */
  dates?: Dates;
}

export interface Dates {
  /** How many seconds 1 is. */
  seconds: number;
  /** Which second 0 is, counted from the beginning of 1970 in the time of the place. */
  start: number;
}

export interface Series {
  name: string;
  colour: number;
  panel: number;
  x: number[];
  mean: number[];
  half?: (number | null)[];
  /** Of differences in percent of what they are from: the mean, and the ends of the interval; an end that is null is infinite, both are where there is none. */
  percent?: [number, number | null, number | null][];
  replications?: number[];
  /** Whether each mean is of a run that is made once by design. */
  once?: boolean[];
  /** Names of the points, written beside their marks where there is space. */
  labels?: string[];
}

export interface View {
  /** For each chooser the index of its value; null where it means nothing here. */
  at: (number | null)[];
  title: string;
  sentence: string;
  style: Style;
  differences?: boolean;
  sorted?: boolean;
  fixed?: boolean;
  expected?: number;
  x: Scale;
  y: Scale;
  colour?: { label: string; key: string };
  panel?: { label: string; key: string };
  panels?: string[];
  series: Series[];
  bounds?: Bound[];
}

/** A bound that a claim sets for the point of a series, which is to be below it or above. */
export interface Bound { x: number; y: number; panel: number; series: number; is_upper: boolean }

/** One measured value, and where it stands. */
export interface Point {
  /** A number, or the index of a name. */
  x: number;
  mean: number;
  half: number | null;
  low: number;
  high: number;
  /** How many replications it is of; 0 where that means nothing. */
  replications: number;
  /** Whether it is of a run that is made once by design. */
  once: boolean;
  name: string;
  /** Name of the point itself, if it has one. */
  label?: string;
  colour: number;
  panel: number;
}

/** The colours of a drawing, as SVG names them. */
export interface Theme { ink: string; soft: string; line: string; paper: string; colours: string[] }

/** A panel that is drawn, and where its points are. */
export interface Drawn { svg: string; width: number; height: number; hits: { x: number; y: number; point: Point }[] }
