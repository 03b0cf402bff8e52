import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, ask, type Schemas } from '../api/client'
import { text } from '../text'
import { Button, Id } from '../ui/controls'
import { Confirm } from '../ui/dialog'
import { List, Table } from '../ui/list'
import { Page } from '../ui/page'
import { Time } from '../ui/time'
import { tell } from '../ui/toast'

const t = text.rejects

/** The rejects. SQS cannot list a queue in pages, so the page shows a hundred of them at most. */
export function Rejects() {
  const cache = useQueryClient()
  const list = useQuery({ queryKey: ['rejects'], queryFn: () => ask(api().GET('/v1/rejects', { params: { query: { limit: 100 } } })) })
  const redrive = async () => {
    let sent = 0
    let failed = 0
    for (let more = true; more; ) {
      const done = await ask(api().POST('/v1/rejects/redrive'))
      sent += done.redriven
      failed += done.failed
      more = done.more
    }
    tell(t.redriven(sent, failed))
    await cache.invalidateQueries({ queryKey: ['rejects'] })
  }
  const action = (
    <Confirm trigger={<Button look="primary">{t.redrive}</Button>} title={t.redriveTitle} action={t.redrive} run={redrive}>
      {t.redriveText}
    </Confirm>
  )
  return (
    <Page title={t.title} lead={t.lead} actions={list.data && list.data.data.length > 0 && action}>
      <List of={list} empty={{ title: t.empty, text: t.emptyText }}>
        {(data) => (
          <Table columns={[t.reason, t.tenant, t.type, t.body, t.at]}>
            {data.map((r, i) => (
              <Row key={`${r.id} ${i}`} of={r} />
            ))}
          </Table>
        )}
      </List>
    </Page>
  )
}

function Row({ of: r }: { of: Schemas['Reject'] }) {
  return (
    <tr>
      <td>
        <div>
          {r.reason ?? t.noReason}
          <div className="soft small">
            <Id value={r.id} />
          </div>
        </div>
      </td>
      <td className={r.tenant ? '' : 'blank'} data-label={t.tenant}>
        {r.tenant ?? <span className="soft">–</span>}
      </td>
      <td className={r.event_type ? '' : 'blank'} data-label={t.type}>
        {r.event_type ?? <span className="soft">–</span>}
      </td>
      <td data-label={t.body}>
        <div className="clip" title={r.body}>
          <code>{r.body}</code>
        </div>
      </td>
      <td data-label={t.at}>
        <Time at={r.rejected_at} />
      </td>
    </tr>
  )
}
