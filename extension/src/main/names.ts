/** Commands that open panels of the main area. */

/** Of one run: `run`, its id; `folder` of runs, as in requests to the server; `title` to show. */
export const OPEN_RUN = 'workbench:open-run';
/** Of several: `runs`, their ids; `folder`. */
export const COMPARE_RUNS = 'workbench:compare-runs';
