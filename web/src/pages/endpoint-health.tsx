import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ask, type Schemas } from '../api/client'
import { useEndpointHealth, useTotals } from '../api/reads'
import { compact, count, duration, goDuration, milliseconds, percent, rate, until } from '../format'
import { isPortal, may } from '../session'
import { said, text } from '../text'
import { ActivityCard, RangeChoice, useActivity } from '../ui/activity'
import { Button } from '../ui/controls'
import { outcome } from '../ui/delivery'
import { Confirm } from '../ui/dialog'
import { Todo } from '../ui/endpoint'
import { LatencyChart } from '../ui/latency'
import { Card, Facts, Stat } from '../ui/page'
import { deliveryPath } from '../ui/paths'
import { Data, Empty } from '../ui/states'
import { Since, Time } from '../ui/time'
import { tell, tellFailure } from '../ui/toast'
import { TypeStats } from '../ui/type-stats'
import { WaitingCard } from '../ui/waiting'

const t = text.endpoint

type Health = Schemas['EndpointHealth']
/** What happened in a range. */
type Span = Pick<Schemas['StatsRow'], 'attempts' | 'success_rate' | 'latency' | 'mean_delivery_time' | 'attempts_by_outcome' | 'attempts_by_number'>
const quiet: Span = { attempts: 0, attempts_by_number: [] }

export function EndpointHealth({ tenant, of: e }: { tenant: string; of: Schemas['Endpoint'] }) {
  const health = useEndpointHealth(tenant, e.id)
  const activity = useActivity(tenant, e.id)
  const week = activity.wanted && !activity.refused
  const totals = useTotals(tenant, e.id, week ? 7 : 1).data
  return (
    <Data of={health}>
      {(h) => {
        const w = totals && (totals.data[0] ?? quiet)
        return (
          <>
            {(h.slow || h.warned > 0) && (
              <p className="notice warn">
                {h.warned > 0 ? t.warned(h.warned) : t.slowText}
              </p>
            )}
            <Verdict tenant={tenant} of={e} health={h} />
            {e.ordered && h.deliveries.dead > 0 && <Blocked tenant={tenant} id={e.id} />}
            {h.backlog && <Backlog of={h.backlog} health={h} />}
            <RangeChoice of={activity} />
            <Figures tenant={tenant} id={e.id} health={h} of={w ?? quiet} span={activity.span} />
            <ActivityCard of={activity} />
            <WaitingCard
              of={{ queued: h.deliveries.queued_estimate, retrying: h.deliveries.retrying, reasons: h.deliveries.parked_by_reason }}
              list={(state) => `/t/${tenant}/deliveries?endpoint=${e.id}&state=${state}`}
              counted={h}
            />
            {isPortal && h.circuit_state.strained && <p className="notice warn">{t.strained}</p>}
            <LatencyChart of={activity.read.data} />
            <TypeStats of={activity} />
            <div className="split">
              {w && <Attempts of={w} />}
              <div className="stack">
                {!isPortal && <Circuit tenant={tenant} health={h} />}
                <Limits of={h} />
              </div>
            </div>
          </>
        )
      }}
    </Data>
  )
}

/** What is wrong with the endpoint, in one sentence, with its last failed answer. Reads the newest 20 deliveries with a failed attempt of one that fails, or was disabled for its answers. */
function Verdict({ tenant, of: e, health: h }: { tenant: string; of: Schemas['Endpoint']; health: Health }) {
  const { state, since, reason } = h.condition
  const fails = state === 'failing' || state === 'degraded' || (state === 'disabled' && reason !== 'manual')
  const list = useQuery({
    queryKey: [tenant, 'last', e.id],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/endpoints/{endpoint}/deliveries', { params: { path: { tenant, endpoint: e.id }, query: { failed_attempt: true, limit: 20 } } })),
    enabled: fails,
  })
  const failed = fails ? list.data?.data.find((d) => d.last && d.last.class !== 'delivered') : undefined
  const waiting = h.deliveries.retrying + h.deliveries.parked
  const why = h.condition.class ? outcome({ class: h.condition.class, status: h.condition.status }) : h.condition.reason && text.endpoints.reasons[h.condition.reason]
  const probe = h.circuit_state.next_probe_at
  const { attempts, success_rate } = h.windows['1h']
  return (
    <div className="stack tight">
      <p className="verdict">
        {t.says[state]}
        {since && (
          <>
            {' '}
            {text.endpoints.since} <Since at={since} />
          </>
        )}
        {why && `: ${why}`}
        {state === 'healthy' && attempts > 0 && `: ${t.lately(percent(success_rate), attempts)}`}
        {waiting > 0 && `; ${text.endpoints.waiting(waiting, h.complete)}`}
        {probe && e.status === 'active' && (
          <>
            , {t.nextProbe} <Time at={probe} />
          </>
        )}
        {'.'}
      </p>
      {failed?.last && (
        <p className="break">
          <span className="soft">{t.lastAnswer}</span> <Link to={deliveryPath(tenant, failed.id)}>{outcome(failed.last)}</Link>{' '}
          <code>{failed.last.body || said(failed.last.error ?? '')}</code>
        </p>
      )}
      {isPortal && <Todo of={h.condition} />}
      <div className="row">
        {waiting > 0 && h.circuit_state.state === 'open' && e.status === 'active' && !isPortal && <Probe tenant={tenant} id={e.id} />}
        {isPortal && h.circuit_state.state !== 'closed' && <Reset tenant={tenant} id={e.id} />}
        {h.backlog?.first_loss_at && <Extend tenant={tenant} of={e} />}
      </div>
    </div>
  )
}

/** The ordering keys that a dead delivery blocks, the newest ones, and what to do. */
function Blocked({ tenant, id }: { tenant: string; id: string }) {
  const { data: list } = useQuery({
    queryKey: [tenant, 'blocked', id],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/dead-letters', { params: { path: { tenant }, query: { endpoint: id, blocking: true, limit: 5 } } })),
  })
  if (!list?.data.length) return null
  return (
    <div className="notice bad stack tight">
      {list.data.map((d) => (
        <p key={d.id} className="break">
          {t.blocked.key(d.ordering!.key)} <Link to={deliveryPath(tenant, d.id)}>{t.blocked.head(d.ordering!.number)}</Link> {t.blocked.dead} <Since at={d.updated_at} />
          {d.ordering!.behind! > 0 && `; ${t.blocked.behind(d.ordering!.behind!)}`}.
        </p>
      ))}
      {list.next_cursor && <p>{t.blocked.more}</p>}
      <p>{t.blocked.todo}</p>
    </div>
  )
}

/** Asks the endpoint now, in place of after the cooldown. */
function Probe({ tenant, id }: { tenant: string; id: string }) {
  const cache = useQueryClient()
  if (!may('endpoints:write')) return null
  const probe = async () => {
    try {
      await ask(api().POST('/v1/tenants/{tenant}/endpoints/{endpoint}/circuit/probe', { params: { path: { tenant, endpoint: id } } }))
      tell(t.probing)
    } catch (failure) {
      tellFailure(failure)
    }
    await cache.invalidateQueries({ queryKey: [tenant] })
  }
  return (
    <Button tiny onClick={() => void probe()}>
      {t.probeNow}
    </Button>
  )
}

const longest = 336 // hours

/** Keeps what waits for twice as long, up to the API's bound. */
function Extend({ tenant, of: e }: { tenant: string; of: Schemas['Endpoint'] }) {
  const cache = useQueryClient()
  const hours = Math.min(longest, Math.ceil((2 * goDuration(e.max_age)) / 3_600_000))
  if (!may('endpoints:write') || goDuration(e.max_age) >= longest * 3_600_000) return null
  const extend = async () => {
    await ask(api().PATCH('/v1/tenants/{tenant}/endpoints/{endpoint}', { params: { path: { tenant, endpoint: e.id } }, body: { max_age: `${hours}h` } }))
    tell(t.extended)
    await cache.invalidateQueries({ queryKey: [tenant] })
  }
  const label = t.extend(milliseconds(hours * 3_600_000))
  return (
    <Confirm trigger={<Button tiny>{label}</Button>} title={t.extendTitle} action={label} run={extend}>
      {t.extendText}
    </Confirm>
  )
}

/** When what waits has gone, and what of it is lost before, if nothing changes. */
function Backlog({ of: b, health: h }: { of: Schemas['Backlog']; health: Health }) {
  const first = b.first_loss_at && until(b.first_loss_at)
  if (!b.drains_by) return first && <p className="notice warn">{t.backlog.stands(b.at_risk, first)}</p>
  const limit = h.limits.rate_per_second > 0 && b.per_second >= h.limits.rate_per_second ? 'rate' : h.limits.max_in_flight > 0 ? 'inFlight' : 'age'
  return (
    <p className={`notice ${first ? 'bad' : ''}`}>
      {[t.backlog.drains(rate(b.per_second), until(b.drains_by)), ...(first ? [t.backlog.lost(b.at_risk, first, h.complete), t.backlog.raise[limit]] : [])].join(' ')}
    </p>
  )
}

type FiguresProps = { tenant: string; id: string; health: Health; of: Span; span: string }

/** The figures of the range. While the endpoint fails, its success is that of now: a good day does not hide a bad hour, and one that stands still is not good. */
function Figures({ tenant, id, health: h, of: w, span }: FiguresProps) {
  const { state } = h.condition
  const now = h.windows['1h']
  const current = (state === 'failing' || state === 'degraded') && now.attempts > 0
  const rate = current ? now.success_rate : w.success_rate
  const still = state === 'disabled' || state === 'paused'
  const tone = rate === undefined || (still && rate > 0.95) ? undefined : state === 'failing' || rate <= 0.5 ? 'bad' : state === 'degraded' || rate <= 0.95 ? 'warn' : 'good'
  const listed = (state: string, n: number) => (
    <Link to="/t/$tenant/deliveries" params={{ tenant }} search={{ endpoint: id, state }}>
      {compact(n)}
    </Link>
  )
  return (
    <div className="stats">
      <Stat name={t.success} value={percent(rate)} note={current ? t.ofNow(now.attempts, percent(w.success_rate), span) : `${t.ofAttempts(w.attempts)}. ${span}`} tone={tone} />
      <Stat name={text.latency.p50} value={w.latency ? duration(w.latency.p50) : '–'} />
      <Stat name={text.latency.p95} value={w.latency ? duration(w.latency.p95) : '–'} />
      <Stat name={text.latency.p99} value={w.latency ? duration(w.latency.p99) : '–'} />
      <Stat name={t.mean} value={w.mean_delivery_time ? duration(w.mean_delivery_time) : '–'} note={span} />
      <Stat name={t.dead} value={listed('dead', h.deliveries.dead)} note={h.complete ? t.open : t.openAtLeast} tone={h.deliveries.dead ? 'bad' : undefined} />
    </div>
  )
}

function Attempts({ of: w }: { of: Span }) {
  if (w.attempts === 0) {
    return (
      <Card>
        <Empty title={t.noAttempts}>
          <p>{t.noAttemptsText}</p>
        </Empty>
      </Card>
    )
  }
  const outcomes = Object.entries(w.attempts_by_outcome ?? {}).sort(([, a], [, b]) => b - a)
  return (
    <div className="stack">
      <Card title={t.outcomes} pad>
        <Bars of={outcomes.map(([name, n]) => ({ label: text.classes[name] ?? name, n, good: name === 'delivered' }))} total={w.attempts} />
      </Card>
      <Card title={t.numbers} pad>
        <Bars of={w.attempts_by_number.map((n, i) => ({ label: text.event.attempt(i + 1), n, good: false }))} total={w.attempts} />
      </Card>
    </div>
  )
}

function Bars({ of, total }: { of: { label: string; n: number; good: boolean }[]; total: number }) {
  return (
    <ul className="bars">
      {of.map((b) => (
        <li key={b.label} className={b.good ? 'good' : ''}>
          <span>{b.label}</span>
          <span className="track" aria-hidden>
            <span style={{ width: `${(100 * b.n) / total}%` }} />
          </span>
          <span className="number">{count(b.n)}</span>
        </li>
      ))}
    </ul>
  )
}

/** Lets the waiting deliveries of a failing endpoint go out. */
function Reset({ tenant, id }: { tenant: string; id: string }) {
  const cache = useQueryClient()
  if (!may('endpoints:write')) return null
  const reset = async () => {
    await closeCircuit(tenant, id)
    tell(t.resetDone)
    await cache.invalidateQueries({ queryKey: [tenant] })
  }
  return (
    <Confirm trigger={<Button tiny>{t.reset}</Button>} title={t.resetTitle} action={t.reset} run={reset}>
      {t.resetText}
    </Confirm>
  )
}

const closeCircuit = (tenant: string, endpoint: string) => ask(api().POST('/v1/tenants/{tenant}/endpoints/{endpoint}/circuit/reset', { params: { path: { tenant, endpoint } } }))

function Circuit({ tenant, health: h }: { tenant: string; health: Health }) {
  const cache = useQueryClient()
  const c = h.circuit_state
  const closed = c.state === 'closed'
  const params = { path: { tenant, endpoint: h.endpoint_id } }
  const refresh = () => cache.invalidateQueries({ queryKey: [tenant] })
  const trip = async () => {
    await ask(api().POST('/v1/tenants/{tenant}/endpoints/{endpoint}/circuit/open', { params }))
    tell(t.tripDone, () => void closeCircuit(tenant, h.endpoint_id).then(refresh, tellFailure))
    await refresh()
  }
  return (
    <Card
      title={`${t.circuit}: ${(t.circuits[c.state] ?? c.state).toLowerCase()}`}
      pad
      aside={
        !closed ? (
          <Reset tenant={tenant} id={h.endpoint_id} />
        ) : (
          may('endpoints:write') && (
            <Confirm trigger={<Button tiny>{t.trip}</Button>} title={t.tripTitle} action={t.trip} danger run={trip}>
              {t.tripText}
            </Confirm>
          )
        )
      }
    >
      <div className="stack tight">
        <p className="soft">{h.status !== 'active' ? t.notSent[h.status] : c.strained ? t.strained : t.circuitTexts[c.state]}</p>
        <Facts
          of={[
            [t.opened, c.opened_at && <Time at={c.opened_at} />],
            [t.probe, c.next_probe_at && <Time at={c.next_probe_at} />],
            [t.cooldown, c.cooldown && duration(c.cooldown)],
            [t.failures, closed && c.failures > 0 ? count(c.failures) : undefined],
            [t.throttledUntil, c.throttled_until && <Time at={c.throttled_until} />],
            [t.pace, c.pace && t.paceOf(rate(c.pace))],
          ]}
        />
      </div>
    </Card>
  )
}

function Limits({ of: h }: { of: Health }) {
  return (
    <Card title={t.limits} pad>
      <Facts
        of={[
          [t.rate, h.limits.rate_per_second ? `${t.perSecond(h.limits.rate_per_second)}${h.limits.rate_waiting ? `, ${count(h.limits.rate_waiting)} ${t.waiting}` : ''}` : t.unlimited],
          [t.inFlight, h.limits.max_in_flight ? `${count(h.limits.in_flight ?? 0)} / ${count(h.limits.max_in_flight)}` : t.unlimited],
          [t.speed, !isPortal && t.speeds[h.speed]],
          [t.timeout, !isPortal && duration(h.timeout)],
        ]}
      />
    </Card>
  )
}
