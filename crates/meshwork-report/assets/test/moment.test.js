// Who runs and who waits, as a table.

import assert from "node:assert/strict";
import { test } from "node:test";

import { momentCsv } from "../machine/save.js";
import { run } from "./a-run.js";

test("who runs and who waits is a table", () => {
  const seen = run();
  assert.equal(momentCsv(seen, seen.moment(1, 1)), "job,state,asks,submit,start,end,site,processors,placement\n"
    + '7,runs,3x2,0,0,5,1,6,"1,0:3x2"\n8,waits,2x2,1\n');
});
