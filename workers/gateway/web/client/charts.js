// charts.js - charts by Chart.js, which is fetched when the first one is drawn, in the colours of the page. A chart says nothing
// that does not stand beside it in words.
import { el } from './dom.js';

/** @param {string} name of a colour in style.css, "--accent" */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** One chart, drawn anew when the colours change. */
export class ChartBox {
  /**
   * @param {string} label what a screen reader says of it
   * @param {string} kind its class
   */
  constructor(label, kind) {
    this.canvas = el('canvas', { role: 'img', 'aria-label': label });
    this.root = el('div', { class: `chart ${kind}`, hidden: true }, this.canvas);
    /** @type {any} */
    this.chart = null;
    /** @type {(() => object) | null} */
    this.make = null;
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.make && this.draw(this.make));
  }

  /** @param {(() => object) | null} make the configuration, in the colours that hold now; null hides the chart */
  async draw(make) {
    this.make = make;
    this.root.hidden = !make;
    this.chart?.destroy();
    this.chart = null;
    if (!make) return;
    try {
      await import(/** @type {string} */ (document.documentElement.dataset.chart));
    } catch {
      this.root.hidden = true;
      return;
    }
    if (this.make !== make) return;
    this.chart?.destroy();
    this.chart = new Chart(this.canvas, make());
  }
}

/**
 * Bars over days, with a line across them where there is a limit.
 * @param {{labels: string[], values: number[], name: string, limit?: number | null, unit: (value: number) => string}} series
 */
export function bars({ labels, values, name, limit, unit }) {
  return () => ({
    data: {
      labels,
      datasets: [
        { type: 'bar', label: name, data: values, backgroundColor: colour('--accent'), maxBarThickness: 24, borderRadius: 2 },
        ...(limit ? [{ type: 'line', label: 'Budget', data: labels.map(() => limit), borderColor: colour('--bad'), borderDash: [4, 4], borderWidth: 1.5, pointRadius: 0 }] : []),
      ],
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      plugins: { legend: { display: Boolean(limit), labels: { color: colour('--text'), boxWidth: 14 } }, tooltip: { callbacks: { label: (/** @type {any} */ item) => `${item.dataset.label}: ${unit(item.raw)}` } } },
      scales: {
        x: { grid: { display: false }, ticks: { color: colour('--soft'), maxRotation: 0, autoSkip: true, autoSkipPadding: 16 } },
        y: { beginAtZero: true, grid: { color: colour('--line') }, ticks: { color: colour('--soft'), maxTicksLimit: 5, callback: unit } },
      },
    },
  });
}
