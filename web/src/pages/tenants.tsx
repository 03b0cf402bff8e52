import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, ask } from '../api/client'
import { usePipelineStats } from '../api/reads'
import { count } from '../format'
import { hoursByTenant } from '../hours'
import { text } from '../text'
import { Button, Input } from '../ui/controls'
import { useFilter } from '../ui/filters'
import { Field } from '../ui/form'
import { List, Table } from '../ui/list'
import { Card, Page } from '../ui/page'
import { SparkCell } from '../ui/spark'
import { Data, Empty } from '../ui/states'
import { OrderChoice, ordered, type TenantOrder, TenantTable } from './tenant-table'

const t = text.tenants

export function Tenants() {
  const { prefix, sort } = useSearch({ from: '/tenants' })
  const navigate = useNavigate()
  const set = useFilter()
  const [id, setID] = useState('')
  const order = sort === 'volume' || sort === 'failures' ? sort : 'id'
  const open = (e: FormEvent) => {
    e.preventDefault()
    if (id.trim()) void navigate({ to: '/t/$tenant', params: { tenant: id.trim() } })
  }
  return (
    <Page title={t.title} lead={t.lead}>
      <div className="filters">
        <div className="field">
          <span className="label">{t.order}</span>
          <OrderChoice value={order} more={[{ value: 'id', label: t.orders.id }]} onChange={(by) => set({ sort: by === 'id' ? undefined : by })} />
        </div>
        <Field name="prefix" label={t.prefix}>
          <Input defaultValue={prefix ?? ''} onChange={(e) => set({ prefix: e.currentTarget.value || undefined })} />
        </Field>
        <form className="filters" onSubmit={open}>
          <Field name="tenant" label={t.openTenant}>
            <Input value={id} onChange={(e) => setID(e.currentTarget.value)} />
          </Field>
          <Button type="submit">{t.open}</Button>
        </form>
      </div>
      {order === 'id' ? <ById /> : <ByActivity order={order} />}
    </Page>
  )
}

/** All tenants, a page of ids at a time. Reads: the page as it changes, and once a minute the statistics of the sparks. */
function ById() {
  const { prefix, cursor } = useSearch({ from: '/tenants' })
  const list = useQuery({
    queryKey: ['tenants', prefix, cursor],
    queryFn: () => ask(api().GET('/v1/tenants', { params: { query: { prefix, cursor, limit: 100 } } })),
  })
  const hourly = usePipelineStats({ by: 'hour', group: 'tenant' }).data
  const sparks = hourly && hoursByTenant(hourly)
  return (
    <List of={list} cursor={cursor} empty={{ title: t.empty, text: t.emptyText }}>
      {(data) => (
        <Table columns={[t.id, text.activity.today, { name: t.endpoints, look: 'end' }, t.limits]}>
          {data.map((tenant) => (
            <tr key={tenant.id}>
              <td>
                <Link className="strong" to="/t/$tenant" params={{ tenant: tenant.id }}>
                  {tenant.id}
                </Link>
              </td>
              <SparkCell hours={sparks?.get(tenant.id)} />
              <td className="end" data-label={t.endpoints}>
                {count(tenant.endpoints)}
              </td>
              <td className="soft" data-label={t.limits}>
                {Object.entries(tenant.limits)
                  .map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`)
                  .join(', ') || t.noLimits}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </List>
  )
}

const mostRows = 100

/** The tenants of the last 24 hours. Reads, once a minute: the statistics by tenant, and those of the sparks. */
function ByActivity({ order }: { order: TenantOrder }) {
  const { prefix = '' } = useSearch({ from: '/tenants' })
  const tenants = usePipelineStats({ group: 'tenant' })
  const hourly = usePipelineStats({ by: 'hour', group: 'tenant' }).data
  return (
    <>
      <p className="soft">{t.active}</p>
      <Data of={tenants}>
        {({ data, complete }) => {
          const rows = ordered(data, order).filter((r) => r.tenant?.startsWith(prefix) || (r.other && !prefix))
          const notes = [rows.length > mostRows && t.more(mostRows), !complete && t.sample].filter(Boolean)
          return (
            <Card foot={notes.length > 0 && <p className="soft small">{notes.join(' ')}</p>}>
              {rows.length === 0 ? (
                <Empty title={t.quiet}>
                  <p>{t.quietText}</p>
                </Empty>
              ) : (
                <TenantTable rows={rows.slice(0, mostRows)} sparks={hourly && hoursByTenant(hourly)} />
              )}
            </Card>
          )
        }}
      </Data>
    </>
  )
}
