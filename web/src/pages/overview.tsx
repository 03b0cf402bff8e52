import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { AlertTriangle, CircleCheck, Clock, Skull, Unplug } from 'lucide-react'
import type { ReactNode } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { compact, count, duration, goDuration } from '../format'
import { text } from '../text'
import { Data } from '../ui/states'
import { Card, Page, Stat } from '../ui/page'
import { deliveryPath } from '../ui/paths'
import { Time } from '../ui/time'

type Health = Schemas['Health']
const t = text.overview

export function Overview() {
  const health = useQuery({ queryKey: ['health'], queryFn: () => ask(api().GET('/v1/health')) })
  return (
    <Page title={t.title}>
      <Data of={health}>
        {(h) => (
          <>
            <Needs of={h} />
            <Figures of={h} />
            {!h.complete && <p className="soft small">{t.lower}</p>}
            <Queues of={h} />
          </>
        )}
      </Data>
    </Page>
  )
}

function Needs({ of: h }: { of: Health }) {
  const items: ReactNode[] = []
  const undeliverable = h.queues.undeliverable.visible + h.queues.undeliverable.in_flight
  if (undeliverable > 0) {
    items.push(<Need key="u" icon={<AlertTriangle size={17} className="bad" />} title={t.needUndeliverable(undeliverable)} detail={t.needUndeliverableText} />)
  }
  if (h.dead > 0) {
    items.push(<Need key="d" icon={<Skull size={17} className="bad" />} title={t.needDead(h.dead)} detail={`${t.needDeadText} ${t.byTenant}`} to="/tenants" />)
  }
  if (h.open_circuits > 0) {
    items.push(<Need key="c" icon={<Unplug size={17} className="wait" />} title={t.needCircuits(h.open_circuits)} detail={`${t.needCircuitsText} ${t.byTenant}`} to="/tenants" />)
  }
  const oldest = h.oldest_pending
  if (oldest && goDuration(oldest.age) > 3_600_000) {
    items.push(
      <Need
        key="o"
        icon={<Clock size={17} className="warn" />}
        title={t.needOldest}
        detail={
          <>
            {text.states[oldest.state]}, {oldest.tenant}, <Time at={oldest.created_at} />
          </>
        }
        to={deliveryPath(oldest.tenant, oldest.delivery_id)}
      />,
    )
  }
  return (
    <Card title={t.needs}>
      {items.length > 0 ? (
        <ul className="needs">{items}</ul>
      ) : (
        <div className="needs">
          <Calm />
        </div>
      )}
    </Card>
  )
}

export function Calm() {
  return (
    <ul className="needs">
      <Need icon={<CircleCheck size={17} className="good" />} title={t.calm} detail={t.calmText} />
    </ul>
  )
}

export function Need({ icon, title, detail, to }: { icon: ReactNode; title: ReactNode; detail: ReactNode; to?: string }) {
  return (
    <li>
      <div className="what">
        {icon}
        <div>
          <h3>{title}</h3>
          <p className="soft">{detail}</p>
        </div>
      </div>
      {to && (
        <Link className="button" to={to}>
          {t.look}
          <span className="hidden">: {title}</span>
        </Link>
      )}
    </li>
  )
}

function Figures({ of: h }: { of: Health }) {
  const last = h.last_hour
  return (
    <div className="stats">
      <Stat name={t.delivered} value={compact(last.delivered)} note={t.since} tone={last.delivered > 0 ? 'good' : undefined} />
      <Stat name={t.failed} value={compact(last.failed)} note={t.since} />
      <Stat name={t.mean} value={last.mean_delivery_time ? duration(last.mean_delivery_time) : '–'} note={t.since} />
      <Stat name={t.queued} value={compact(h.queued)} />
      <Stat name={t.retrying} value={compact(h.retrying)} />
      <Stat name={t.parked} value={compact(h.parked)} tone={h.parked > 0 ? 'wait' : undefined} />
      <Stat name={t.dead} value={compact(h.dead)} tone={h.dead > 0 ? 'bad' : undefined} />
      <Stat name={t.circuits} value={compact(h.open_circuits)} tone={h.open_circuits > 0 ? 'wait' : undefined} />
      <Stat
        name={t.oldest}
        value={h.oldest_pending ? duration(h.oldest_pending.age) : '–'}
        note={h.oldest_pending && <Link to={deliveryPath(h.oldest_pending.tenant, h.oldest_pending.delivery_id)}>{h.oldest_pending.tenant}</Link>}
      />
    </div>
  )
}

function Queues({ of: h }: { of: Health }) {
  return (
    <Card title={t.queues}>
      <div className="scroll" tabIndex={0} role="region" aria-label={t.queues}>
        <table>
          <thead>
            <tr>
              <th>{t.queue}</th>
              <th className="end">{t.visible}</th>
              <th className="end">{t.inFlight}</th>
              <th className="end">{t.delayed}</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(h.queues).map(([name, depth]) => (
              <tr key={name}>
                <td>{name.replace('_', ' ')}</td>
                <td className="end">{count(depth.visible)}</td>
                <td className="end">{count(depth.in_flight)}</td>
                <td className="end">{count(depth.delayed)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}
