// Last line of a CI run, `N passed, N failed`: the tests of vitest's JSON report, and each check as one more.
// node .ci/count.mjs <report> <exit code of the tests> <exit code of a check>...; exits 1 when anything failed.

import { existsSync, readFileSync } from 'node:fs';

/** A file that could not be loaded has no tests of its own, and counts as one that failed. */
function isUnloaded(file) {
  return file.status === 'failed' && file.assertionResults.length === 0;
}

function count(reportPath, testsExit, checkExits) {
  const report = existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, 'utf8')) : undefined;
  const passedTests = report?.numPassedTests ?? 0;
  const seenFailures = (report?.numFailedTests ?? 0) + (report?.testResults ?? []).filter(isUnloaded).length;
  // A run that failed without a failed test (an unhandled error, a crash) is a failure all the same.
  const failedTests = testsExit !== 0 || passedTests === 0 ? Math.max(1, seenFailures) : seenFailures;
  return {
    passed: passedTests + checkExits.filter((exit) => exit === 0).length,
    failed: failedTests + checkExits.filter((exit) => exit !== 0).length,
    skipped: (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0),
  };
}

const [reportPath = '', testsExit, ...checkExits] = process.argv.slice(2);
const { passed, failed, skipped } = count(reportPath, Number(testsExit), checkExits.map(Number));
if (skipped > 0) process.stdout.write(`${skipped} skipped\n`);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
