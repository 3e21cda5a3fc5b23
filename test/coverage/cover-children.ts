// Before each file of tests in `npm run coverage`: Node writes what the processes and threads have run that a test starts.

const { CHILD_COVERAGE_DIR } = process.env;
if (CHILD_COVERAGE_DIR !== undefined) process.env['NODE_V8_COVERAGE'] = CHILD_COVERAGE_DIR;
