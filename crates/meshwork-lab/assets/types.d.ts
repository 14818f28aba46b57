// The two libraries that stand in the page before the bundle.
declare const d3: any;
declare const Plot: any;
