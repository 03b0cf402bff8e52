import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ask } from '../api/client'
import { isPortal } from '../session'
import { text } from '../text'
import { Card } from '../ui/page'
import { deliveryPath } from '../ui/paths'
import { Data, Empty } from '../ui/states'
import { Time } from '../ui/time'

const t = text.endpoint

function nameOf(type: string): string {
  const short = type.replace(/^surehook\./, '')
  return t.decisions[short] ?? short
}

export function EndpointHistory({ tenant, endpoint }: { tenant: string; endpoint: string }) {
  const list = useQuery({
    queryKey: [tenant, 'history', endpoint],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/endpoints/{endpoint}/decisions', { params: { path: { tenant, endpoint }, query: { limit: 100 } } })),
  })
  return (
    <Card pad>
      <Data of={list}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t.historyEmpty}>
              <p>{t.historyEmptyText}</p>
            </Empty>
          ) : (
            <ol className="timeline">
              {data.map((n) => (
                <li key={n.at + n.event_type} className={/recovered|closed/.test(n.event_type) ? 'good' : /slow/.test(n.event_type) ? 'warn' : 'bad'}>
                  <div className="line">
                    <h3>{nameOf(n.event_type)}</h3>
                    <span className="soft small">
                      <Time at={n.at} />
                    </span>
                  </div>
                  <p className="break">
                    {!isPortal && n.reason} {n.delivery_id && <Link to={deliveryPath(tenant, n.delivery_id)}>{text.deliveries.id}</Link>}
                  </p>
                </li>
              ))}
            </ol>
          )
        }
      </Data>
    </Card>
  )
}
