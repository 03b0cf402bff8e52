import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { useTenant } from '../api/reads'
import { goDuration, until } from '../format'
import { isPortal, may } from '../session'
import { said, text } from '../text'
import { Button, Select } from '../ui/controls'
import { EndpointName } from '../ui/delivery'
import { Badge, Card, Page } from '../ui/page'
import { Data, Empty } from '../ui/states'
import { ReplayDialog, type Selection } from './replay-dialog'

const t = text.dead
const words = isPortal ? text.replay.portal : text.replay.console

const mostGroups = 50

export function DeadLetters() {
  const tenant = useTenant()
  const { period = '336h' } = useSearch({ from: '/t/$tenant/dead-letters' })
  const navigate = useNavigate()
  const [selection, setSelection] = useState<Selection | null>(null)
  const [all, setAll] = useState(false)
  const analysis = useQuery({
    queryKey: [tenant, 'dead', period],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/dead-letters/analysis', { params: { path: { tenant }, query: { period } } })),
  })
  // The page shows what died in the period, so a job must take no others.
  const since = () => new Date(Date.now() - goDuration(period)).toISOString()
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        <>
          <span className="soft">{t.window}</span>
          <Select
            label={t.window}
            value={period}
            options={Object.entries(t.periods).map(([value, label]) => ({ value, label }))}
            onChange={(next) => void navigate({ to: '.', search: { period: next }, replace: true })}
          />
          {analysis.data && analysis.data.total > 0 && may('replay') && (
            <>
              <Button look="danger" onClick={() => setSelection({ died_since: since(), action: 'discard' })}>
                {t.discardAll}
              </Button>
              <Button onClick={() => setSelection({ died_since: since() })}>{words.all}</Button>
            </>
          )}
        </>
      }
    >
      <ReplayDialog tenant={tenant} selection={selection} close={() => setSelection(null)} />
      <Data of={analysis}>
        {(a) =>
          a.groups.length === 0 ? (
            <Card>
              <Empty title={t.empty}>
                <p>{t.emptyText}</p>
              </Empty>
            </Card>
          ) : (
            <>
              {!a.complete && <p className="notice warn">{t.incomplete}</p>}
              <p className="soft">{words.total(a.total, !a.complete, t.periods[period] ?? period)}</p>
              {a.groups.slice(0, all ? undefined : mostGroups).map((g) => (
                <Group key={`${g.endpoint_id} ${g.class} ${g.status}`} tenant={tenant} of={g} open={(action) => setSelection({ endpoint: g.endpoint_id, class: g.class ?? 'none', status: g.status, died_since: since(), action })} />
              ))}
              {!all && a.groups.length > mostGroups && <Button onClick={() => setAll(true)}>{t.showAll(a.groups.length)}</Button>}
            </>
          )
        }
      </Data>
    </Page>
  )
}

function Group({ tenant, of: g, open }: { tenant: string; of: Schemas['DeadLetterGroup']; open: (action: 'replay' | 'discard') => void }) {
  const status = g.status ? (`${Math.floor(g.status / 100)}xx` as '4xx') : 'none'
  return (
    <Card
      title={
        <span className="row">
          <Badge tone="bad">{t.letters(g.count)}</Badge>
          {t.patterns[g.pattern] ?? g.pattern}
          {g.status && <code>{g.status}</code>}
        </span>
      }
      aside={
        <span className="row">
          <Link className="button tiny" to="/t/$tenant/deliveries" params={{ tenant }} search={{ state: 'dead', endpoint: g.endpoint_id, status_class: status }}>
            {t.list}
          </Link>
          <Link className="button tiny" to="/t/$tenant/endpoints/$endpoint" params={{ tenant, endpoint: g.endpoint_id }} search={{ tab: 'settings' }}>
            {t.settings}
          </Link>
          {may('replay') && (
            <>
              <Button tiny look="danger" onClick={() => open('discard')}>
                {t.discard}
              </Button>
              <Button tiny onClick={() => open('replay')}>
                {words.open}
              </Button>
            </>
          )}
        </span>
      }
      pad
    >
      <div className="stack tight">
        <p>
          <EndpointName tenant={tenant} id={g.endpoint_id} />{' '}
          <span className="soft">
            {t.attempts(g.mean_attempts)}, {t.between(until(g.first_at), until(g.last_at))}
          </span>
        </p>
        <p>{t.suggestions[g.pattern] ?? g.suggestion}</p>
        {g.error && <p className="soft small break mono">{said(g.error)}</p>}
      </div>
    </Card>
  )
}
