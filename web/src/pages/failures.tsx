import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask } from '../api/client'
import { text } from '../text'
import { DeliveryTable } from '../ui/delivery'
import { Filters, TimeFilters } from '../ui/filters'
import { Card, Page } from '../ui/page'
import { Pager } from '../ui/pager'
import { Data, Empty } from '../ui/states'

const t = text.broken
const times = ['since', 'until'] as const
const tenantsOfPage = 20

/** What failed in all tenants between two minutes, the last hour without. A page reads 20 tenants, and in each the newest ten. */
export function Failures() {
  const search = useSearch({ from: '/failures' })
  const [hourAgo] = useState(() => new Date(Date.now() - 3_600_000).toISOString())
  const { cursor, until } = search
  const span = { failed_attempt: true, since: search.since ?? hourAgo, until }
  const failures = useQuery({
    queryKey: ['failures', span, cursor],
    queryFn: async () => {
      const tenants = await ask(api().GET('/v1/tenants', { params: { query: { limit: tenantsOfPage, cursor } } }))
      const lists = tenants.data.map(async ({ id }) => ({ tenant: id, ...(await ask(api().GET('/v1/tenants/{tenant}/deliveries', { params: { path: { tenant: id }, query: { ...span, limit: 10 } } }))) }))
      return { lists: (await Promise.all(lists)).filter((l) => l.data.length > 0 || l.next_cursor), next: tenants.next_cursor }
    },
    refetchInterval: false,
  })
  return (
    <Page title={t.title} lead={t.lead}>
      <Filters names={times} search={search} error={failures.error}>
        <TimeFilters since={span.since} until={until} />
      </Filters>
      <Data of={failures}>
        {({ lists, next }) => (
          <>
            {lists.length === 0 && (
              <Card>
                <Empty title={next ? t.noneHere : t.none} />
              </Card>
            )}
            {lists.map(({ tenant, data, next_cursor }) => (
              <Card
                key={tenant}
                title={tenant}
                aside={
                  <Link className="button tiny" to="/t/$tenant/deliveries" params={{ tenant }} search={{ ...span, failed_attempt: 'true' }}>
                    {next_cursor ? t.more : t.list}
                    <span className="hidden">: {tenant}</span>
                  </Link>
                }
              >
                <DeliveryTable tenant={tenant} deliveries={data} endpoint />
              </Card>
            ))}
            <Pager cursor={cursor} next={next} />
          </>
        )}
      </Data>
    </Page>
  )
}
