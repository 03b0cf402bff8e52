import { count } from '../format'
import { type Hour, parts, stacked, sum } from '../hours'
import { text } from '../text'

// In pixels.
const step = 4
const height = 22

/** Small stacked bars of deliveries, failed attempts and deaths by the hour, for the row of a table. hours has the empty hours too. */
export function Spark({ hours }: { hours: Hour[] }) {
  const bars = hours.map(stacked)
  const top = Math.max(1, ...bars.map((h) => h.delivered + h.failed + h.dead))
  const total = sum(hours)
  return (
    <svg className="spark" width={hours.length * step} height={height} role="img" aria-label={text.activity.inAll(parts.map((part) => `${text.activity.parts[part]} ${count(total[part])}`).join(', '))}>
      <rect className="ground" y={height - 1} width="100%" height={1} />
      {bars.map((h, i) => {
        let y = height
        return parts.map((part) => {
          if (h[part] === 0) return null
          const high = Math.max(part === 'dead' ? 1.5 : 0, (h[part] / top) * height)
          y -= high
          return <rect key={`${i}${part}`} className={`mark ${part}`} x={i * step} y={Math.max(0, y)} width={step - 1} height={high} />
        })
      })}
    </svg>
  )
}

/** The last 24 hours in a row of a table; a dash without hours. */
export function SparkCell({ hours }: { hours?: Hour[] }) {
  return (
    <td className={hours ? '' : 'blank'} data-label={text.activity.today}>
      {hours ? <Spark hours={hours} /> : <span className="soft">–</span>}
    </td>
  )
}
