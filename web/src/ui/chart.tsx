import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { type KeyboardEvent, type PointerEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { day, hour, span } from '../format'
import { hourLong } from '../hours'
import { text } from '../text'

const t = text.chart

// The parts of a chart, in pixels.
const height = 190
const head = 10 // above the greatest value
const foot = 24 // for the labels of the time axis
const base = height - foot

/** A series of values, null where there is none. look is the class of its color, and link leads to the records of a span. */
export type Series = { name: string; look: string; values: (number | null)[]; link?: (from: number, until: number) => string }

/** Where a chart draws, in pixels. Column c begins at left(c) and is column wide; y(0) is the base. shown is the chosen column. */
export type Plot = { left: (column: number) => number; column: number; y: (value: number) => number; shown: number | null }

type ChartProps = {
  label: string
  /** The element of the chart and its width, of useWidth. */
  host: RefObject<HTMLDivElement | null>
  width: number
  /** The start of the first column and the length of each, in milliseconds. */
  from: number
  step: number
  series: Series[]
  top: number
  /** The smallest step between two labels of the value axis. */
  unit: number
  format: (n: number) => string
  /** The figures while no column is chosen: those of a column, or others with the name and the bounds of their span. */
  rest: number | { name: string; from: number; until: number; values: (number | null)[] }
  note?: string
  draw: (plot: Plot) => ReactNode
}

/**
 * A chart over time, with a column for each step. The pointer, the arrow keys, Home or End choose a column, and the legend
 * shows its figures. A press keeps the choice until Escape or a button ends it, so that a finger can reach the links of the
 * legend. A screen reader reads the columns as the values of a slider, and finds those with values in a table.
 */
export function Chart({ label, host, width, from, step, series, top, unit, format, rest, note, draw }: ChartProps) {
  const [hover, setHover] = useState<number | null>(null)
  const [kept, setKept] = useState<number | null>(null)
  const columns = series[0]?.values.length ?? 0
  const chosen = [hover, kept].find((c) => c !== null && c < columns) ?? null
  const ticks = ticksTo(top, unit)
  const side = 12 + Math.max(...ticks.map((n) => format(n).length)) * 7
  const column = Math.max(0, width - side) / columns
  const greatest = ticks.at(-1)!
  const plot: Plot = { left: (c) => side + c * column, column, y: (v) => base - (v / greatest) * (base - head), shown: chosen }
  const at = (e: PointerEvent) => Math.min(columns - 1, Math.max(0, Math.floor((e.clientX - e.currentTarget.getBoundingClientRect().left - side) / column)))
  const spanOf = (c: number): [number, number] => [from + c * step, from + (c + 1) * step]
  const now = Date.now()
  const nameOf = (c: number) => {
    const [start, end] = spanOf(c)
    return end > now ? t.soFar(span(start, end)) : span(start, end)
  }
  const keys = (e: KeyboardEvent) => {
    const last = columns - 1
    const next = { ArrowLeft: Math.max(0, (kept ?? columns) - 1), ArrowRight: Math.min(last, (kept ?? last) + 1), Home: 0, End: last, Escape: null }[e.key]
    if (next === undefined) return
    e.preventDefault()
    setKept(next)
  }
  const read = (c: number) => ({ name: nameOf(c), from: spanOf(c)[0], until: spanOf(c)[1], values: series.map((s) => s.values[c]) })
  const legend = chosen !== null ? read(chosen) : typeof rest === 'number' ? read(rest) : rest
  const figures = series.map((s, i) => ({ ...s, value: legend.values[i] }))
  const shown = (v: number | null | undefined) => (v == null ? '–' : format(v))
  return (
    <div className="chart" ref={host}>
      <div className="reading">
        <ul className="legend">
          {figures.map((s) => (
            <li key={s.name} className={s.look}>
              <Figure name={s.name} value={shown(s.value)} to={s.value ? s.link?.(legend.from, legend.until) : undefined} />
            </li>
          ))}
        </ul>
        <p className="when">
          {legend.name}
          {kept !== null && (
            <button type="button" className="button quiet tiny" onClick={() => setKept(null)}>
              <X size={12} aria-hidden /> {t.back}
            </button>
          )}
        </p>
      </div>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="slider"
          tabIndex={0}
          aria-label={label}
          aria-valuemin={0}
          aria-valuemax={columns - 1}
          aria-valuenow={chosen ?? columns - 1}
          aria-valuetext={`${legend.name}: ${figures.map((s) => `${s.name} ${shown(s.value)}`).join(', ')}`}
          onKeyDown={keys}
          onFocus={(e) => e.currentTarget.matches(':focus-visible') && setKept((c) => c ?? columns - 1)}
          onPointerMove={(e) => setHover(at(e))}
          onPointerLeave={() => setHover(null)}
          onMouseDown={(e) => e.preventDefault()} // a press chooses a column, and does not draw the frame of the focus
          onPointerDown={(e) => setKept(at(e))}
        >
          {ticks.map((n) => (
            <g key={n} className="axis">
              <line x1={side} x2={width} y1={plot.y(n)} y2={plot.y(n)} className={n === 0 ? 'base' : undefined} />
              <text x={side - 8} y={plot.y(n) + 4} textAnchor="end">
                {format(n)}
              </text>
            </g>
          ))}
          <g className="axis">
            {timesOf(from, from + columns * step, width - side).map((time) => {
              const x = side + ((time - from) / step) * column
              return (
                x > side + 16 &&
                x < width - (new Date(time).getHours() === 0 ? 26 : 20) && (
                  <text key={time} x={x} y={height - 6} textAnchor="middle">
                    {new Date(time).getHours() === 0 ? day(time) : hour(time)}
                  </text>
                )
              )
            })}
          </g>
          {chosen !== null && <rect className="chosen" x={plot.left(chosen)} y={0} width={column} height={base} />}
          {draw(plot)}
        </svg>
      )}
      <div className="hidden">
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th>{t.time}</th>
              {series.map((s) => (
                <th key={s.name}>{s.name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: columns }, (_, c) => c)
              .filter((c) => series.some((s) => s.values[c]))
              .map((c) => (
                <tr key={c}>
                  <th>{nameOf(c)}</th>
                  {series.map((s) => (
                    <td key={s.name}>{shown(s.values[c])}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
      {note && <p className="soft small">{note}</p>}
    </div>
  )
}

/** A figure of a legend, with the color of its list item. */
export function Figure({ name, value, to, shade }: { name: string; value: string; to?: string; shade?: string }) {
  const content = (
    <>
      <span className="swatch" style={{ opacity: shade }} aria-hidden />
      <span className="soft">{name}</span> <strong>{value}</strong>
    </>
  )
  return to ? <Link to={to}>{content}</Link> : <span>{content}</span>
}

/** A reference for an element, and its width in whole pixels; 0 before it is known. */
export function useWidth() {
  const host = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const element = host.current
    if (!element) return
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [host, width] as const
}

/** The labels of a value axis: 0 and two to four round multiples of unit, the last one at least top. */
function ticksTo(top: number, unit: number): number[] {
  let step = unit
  for (let i = 0; top / step > 4; i++) step = unit * [2, 5, 10][i % 3]! * 10 ** Math.floor(i / 3)
  const steps = Math.max(2, Math.ceil(top / step))
  return Array.from({ length: steps + 1 }, (_, i) => i * step)
}

/** The times with a label: round hours or midnights of the reader's zone, 60 pixels apart or more, but at least every third midnight. */
function timesOf(from: number, until: number, width: number): number[] {
  const hours = (until - from) / hourLong
  const every = [2, 3, 6, 12, 24, 48].find((n) => (width * n) / hours >= 60) ?? 72
  const times: number[] = []
  let midnights = 0
  for (let time = from; time < until; time += hourLong) {
    const h = new Date(time).getHours()
    if (h === 0) midnights++
    if (every < 24 ? h % every === 0 : h === 0 && midnights % (every / 24) === 0) times.push(time)
  }
  return times
}
