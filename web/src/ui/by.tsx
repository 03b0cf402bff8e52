import { useQuery } from '@tanstack/react-query'
import { api, ask } from '../api/client'
import { isPortal, may, session } from '../session'

/** Who did it, by name: a person, this caller, or one of the first hundred keys; for other keys the id. Nothing for customers. */
export function By({ id }: { id: string }) {
  const own = session()?.caller
  const keys = useQuery({
    queryKey: ['keys', 'names'],
    queryFn: () => ask(api().GET('/v1/keys', { params: { query: { limit: 100 } } })),
    enabled: !isPortal && may('admin') && id !== own?.id && id.startsWith('key_'),
    refetchInterval: false,
    staleTime: 60_000,
  })
  if (isPortal) return null
  if (id === own?.id) return own.name
  if (id.startsWith('user:')) return id.slice('user:'.length)
  return keys.data?.data.find((k) => k.id === id)?.name ?? <code>{id}</code>
}
