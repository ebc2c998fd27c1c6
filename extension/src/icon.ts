import { LabIcon } from '@jupyterlab/ui-components';

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="16">
  <g fill="none" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">
    <path class="jp-icon3" stroke="#616161" d="M3 3v18h18"/>
    <path class="jp-icon-accent0" stroke="#e65100" d="M6 6c2 7 6 9 14 10"/>
    <path class="jp-icon-brand0" stroke="#1976d2" d="M6 10c3 6 7 7 14 8"/>
  </g>
</svg>`;

/** Two replicas' loss curves on their axes. */
export const workbenchIcon = new LabIcon({
  name: 'tf-distribute-workbench:icon',
  svgstr: SVG
});
