import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { api, ask, type Schemas } from '../api/client'
import { useTenant } from '../api/reads'
import { text } from '../text'
import { List, Table } from '../ui/list'
import { Badge, Page, type Tone } from '../ui/page'
import { Time } from '../ui/time'

const t = text.changes

export function Changes() {
  return (
    <Page title={t.title} lead={t.lead}>
      <ChangeList tenant={useTenant()} />
    </Page>
  )
}

const tones: Record<string, Tone> = { done: 'good', refused: 'warn', failed: 'bad' }

export function ChangeList({ tenant, target }: { tenant: string; target?: string }) {
  const { cursor }: { cursor?: string } = useSearch({ strict: false })
  const list = useQuery({
    queryKey: [tenant, 'changes', target, cursor],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/audit', { params: { path: { tenant }, query: { target, cursor } } })),
  })
  return (
    <List of={list} cursor={cursor} empty={{ title: t.empty, text: t.emptyText }}>
      {(data) => (
        <Table columns={[t.action, t.outcome, ...(target ? [] : [t.target]), t.who, t.details, t.at]}>
          {data.map((a) => (
            <Row key={a.id} of={a} target={!target} />
          ))}
        </Table>
      )}
    </List>
  )
}

function Row({ of: a, target }: { of: Schemas['Audit']; target: boolean }) {
  return (
    <tr>
      <td>
        <code>{a.action}</code>
      </td>
      <td data-label={t.outcome}>
        <Badge tone={tones[a.outcome] ?? 'calm'}>{a.outcome}</Badge>
        {a.code && <span className="soft small"> {a.code}</span>}
      </td>
      {target && (
        <td data-label={t.target}>
          <div className="clip">
            <code>{a.target}</code>
          </div>
        </td>
      )}
      <td data-label={t.who}>
        {a.actor === 'system' ? t.system : (a.key_name ?? a.key_id)}
        {a.source_ip && <span className="soft small"> {a.source_ip}</span>}
      </td>
      <td data-label={t.details}>
        <div className="clip" title={JSON.stringify(a.changes, null, 2)}>
          {Object.keys(a.changes ?? {}).join(', ') || <span className="soft">–</span>}
        </div>
      </td>
      <td data-label={t.at}>
        <Time at={a.at} />
      </td>
    </tr>
  )
}
