import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import { hour, zone } from '../format'
import { text } from '../text'
import 'uplot/dist/uPlot.min.css'

type Series = { label: string; color: string; values: (number | null)[] }

const span = 86_400 // seconds

/** Lines over the last 24 hours. times are in seconds since 1970; label describes the chart to readers without sight. */
export function Chart({ label, times, series, format }: { label: string; times: number[]; series: Series[]; format: (n: number) => string }) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = host.current
    if (!element) return
    const style = getComputedStyle(element)
    const ink = style.color
    const line = style.borderTopColor
    const axis = { stroke: ink, font: '11px Inter Variable, sans-serif', grid: { stroke: line, width: 1 }, ticks: { show: false } }
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: 200,
        cursor: { y: false },
        scales: { y: { range: (_, __, most) => [0, (most || 1) * 1.1] }, x: { range: () => [Date.now() / 1000 - span, Date.now() / 1000] } },
        axes: [{ ...axis, values: (_, ticks) => ticks.map((s) => hour(s * 1000)) }, { ...axis, size: 64, values: (_, ticks) => ticks.map(format) }],
        series: [{ label: `${text.latency.time} (${zone()})`, value: (_, v) => (v === null ? '–' : hour(v * 1000)) }, ...series.map((s) => ({ label: s.label, stroke: style.getPropertyValue(s.color) || ink, width: 1.5, points: { size: 5 }, value: (_: UPlot, v: number | null) => (v === null ? '–' : format(v)) }))],
      },
      [times, ...series.map((s) => s.values)],
      element,
    )
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: 200 }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      plot.destroy()
    }
  }, [times, series, format])
  return <div className="chart" ref={host} role="img" aria-label={label} />
}
