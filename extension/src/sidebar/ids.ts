/** Commands of the sidebar. */

export const Ids = {
  show: 'workbench:show-runs',
  open: 'workbench:open-selected-runs',
  compare: 'workbench:compare-selected-runs',
  stop: 'workbench:stop-runs',
  resume: 'workbench:resume-runs',
  trainOn: 'workbench:train-on-runs',
  remove: 'workbench:delete-runs',
  notebook: 'workbench:script-to-notebook',
  file: 'workbench:script-to-file',
  cell: 'workbench:script-to-cell',
  opening: 'workbench:insert-opening-cell'
} as const;
