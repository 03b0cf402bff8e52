import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { nameOf, useEndpoints, useTenant, type Endpoint } from '../api/reads'
import { text } from '../text'
import { EndpointStatus } from '../ui/endpoint'
import { Card, Page } from '../ui/page'
import { Data, Empty } from '../ui/states'
import { Time } from '../ui/time'

const t = text.endpoints

export function Endpoints() {
  const tenant = useTenant()
  const list = useEndpoints(tenant)
  const create = (
    <Link className="button primary" to="/t/$tenant/new-endpoint" params={{ tenant }}>
      <Plus size={14} /> {t.create}
    </Link>
  )
  return (
    <Page title={t.title} lead={t.lead} actions={create}>
      <Card foot={list.data?.next_cursor && <p className="soft small">{text.tenant.shown(list.data.data.length)}</p>}>
        <Data of={list}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title={t.empty}>
                <p>{t.emptyText}</p>
                {create}
              </Empty>
            ) : (
              <table className="cards">
                <thead>
                  <tr>
                    <th>{t.name}</th>
                    <th>{t.status}</th>
                    <th>{t.url}</th>
                    <th>{t.types}</th>
                    <th>{t.updated}</th>
                  </tr>
                </thead>
                <tbody>
                  {data.map((e) => (
                    <Row key={e.id} tenant={tenant} of={e} />
                  ))}
                </tbody>
              </table>
            )
          }
        </Data>
      </Card>
    </Page>
  )
}

function Row({ tenant, of: e }: { tenant: string; of: Endpoint }) {
  return (
    <tr>
      <td>
        <Link className="strong" to="/t/$tenant/endpoints/$endpoint" params={{ tenant, endpoint: e.id }}>
          {nameOf(e)}
        </Link>
        {e.description && <div className="soft small clip">{e.description}</div>}
      </td>
      <td data-label={t.status}>
        <EndpointStatus of={e} />
      </td>
      <td data-label={t.url}>
        <div className="clip soft">{e.url}</div>
      </td>
      <td data-label={t.types}>
        <div className="clip">
          <code>{e.event_types.join(' ')}</code>
        </div>
      </td>
      <td data-label={t.updated}>
        <Time at={e.updated_at} />
      </td>
    </tr>
  )
}
