// Package dynamo stores endpoints, circuits, limits, counts, events, deliveries,
// attempts, replay jobs, notifications, changes, API keys, portal links, data keys and
// event types in one DynamoDB table.
//
// The package knows the layout of records and the condition of each write. It does
// not know what records mean. The contract of each method of [Store] is documented at
// the ports in internal/delivery and internal/admin; the comments here add what
// DynamoDB does for it: requests, limits and consistency.
//
// # Table
//
// All keys and indexes of the table are listed here and built in keys.go. Items
// that grow with traffic are in the partition of an event, of an endpoint, or of a
// shard of an endpoint. The partition of a tenant has the version, the limits, the
// data key, the list of endpoints, uids, jobs and portal links.
//
//	item               pk            sk                    written
//	tenant             tenant#T      tenant                with every change of an endpoint or a limit: version, number of endpoints, their digest, the newest changes, limits
//	rate               tenant#T      rate                  per request of a tenant with a limit of events per second: the next-free time
//	challenges         tenant#T      rate#challenges       per challenge to a receiver of the tenant: the next-free time
//	data key           tenant#T      datakey               once, before the tenant's first secret
//	bucket's data key  buckets       bucket#B              once, before the first secret of the tenants in bucket B
//	endpoint, listed   tenant#T      endpoint#E            in the transactions that change the endpoint: what ingest must know of it
//	uid                tenant#T      uid#U                 in the same transaction: reserves the alias
//	URL                tenant#T      url#H                 in the same transaction, and with each move: the number of endpoints with the receiver of hash H
//	endpoint           endpoint#E    endpoint              in a transaction with the tenant
//	TLS settings       endpoint#E    tls                   in the same transaction, when they change
//	circuit            endpoint#E    circuit               per decision, version by version; absent: closed, never failed
//	limits             endpoint#E    limits                per decision, on the condition that the leases and the rate slot have not changed; only for endpoints that needed slots or have a rate
//	shares             shares#T      limits                the same, for the shares of the tenant in the queue slot
//	stats              endpoint#E    stats#HHHH            one addition per batch; HHHH is the UTC hour, attributes count per minute
//	notification       endpoint#E    history#W#N           once per time W and key N
//	change             audit#T       audit#W#C             when change C begins at time W, and when the change ends; T is * for changes outside of the tenants
//	erasure            erasure#T     erasure#J             per step of the job that removes tenant T, version by version; outlives the tenant
//	event              event#V       event                 once, again when an endpoint is added, and when the payload is erased; names the endpoints and their numbers of shards
//	delivery           endpoint#E#SS delivery#A#V#GGGG     per decision, version by version
//	sequence           order#E#K     sequence              when deliveries of endpoint E with ordering key K get numbers, and when one ends, version by version
//	waiting delivery   order#E#K     wait#NNNNNNNNNNNN     once, if another delivery of the key has the turn
//	attempt            endpoint#E#SS attempt#A#V#GGGG#NNN  when the delivery's item gets too long with its attempts, see withAttempt; a long one in a transaction with the delivery
//	replay job         tenant#T      replay#R              per page of the job, version by version
//	open replays       tenant#T      open-replays          in a transaction with the first and the last version of a job
//	outcomes           job#R         outcomes#NNNNNN       one addition per settled delivery; 100 deliveries per item
//	API key            key#H         key                   once, H is the SHA-256 of the key; for a portal link, K in no list
//	API key, listed    keys          key#K                 in a transaction with the key
//	portal link        tenant#T      link#K                with the SHA-256 of the code; once more, in a transaction with its key, when the code is used
//	event type         event-types   event-type#N          per change of type N, version by version
//	event types        catalogue     "catalogue"           in a transaction with each change of an event type: version and numbers
//
// SS is the shard of the delivery, 00 to 15: a hash of the event id modulo the
// endpoint's shards at acceptance. A is the time of acceptance. So an event with a
// reused idempotency key has other items than the expired event.
//
// # Indexes
//
//	index        hash key             range key                   lists
//	by_endpoint  endpoint#E#SS (pk)   <state>#<created>#V#GGGG    deliveries of an endpoint by state and time
//	by_state     circuit#NN           <when>#<endpoint>           circuits with an AttendAt, by time
//	by_state     look#NN              <when>#<endpoint>           circuits with a LookAt and no AttendAt, by time
//	by_state     active#<UTC hour>#NN <tenant>#<endpoint>         endpoints with counts in the hour
//	by_state     turn#NN              <when>#<sequence's key>     sequences with a LookAt, by time
//	by_state     due#NN               <listed at>#<delivery>      retrying deliveries, by creation, or by the time of a next attempt or sweep an hour and more later
//	by_state     queued#NN            <listed at>#<delivery>      recorded queued deliveries, by the same times
//	by_state     untargeted#T#NN      <accepted>#V#0000           events without a target, by time
//	by_state     tenants              <tenant>                    tenants, by id
//
// Event types belong to no tenant. Every other item but the limits of an endpoint names
// its tenant, in the attribute tenant, in the partition key, or in the range key of
// active: an erasure scans the table for the tenant.
//
// Other items are in no index. by_endpoint leaves out successes of the first generation,
// because their sort key in the table is their position in the list. NN is the shard of
// the endpoint, 00 to 15, or of the event, 00 to 63 for due and 00 to 15 otherwise: a
// hash of the id. Readers query all shards of a list and merge the rows in the order of
// the list. If one shard fails, the list fails.
//
// # Builds
//
// During a deployment, and after a rollback, an older build reads records of a later
// one. So a new fact gets an attribute of its own, and never changes the meaning of
// another attribute. Writing the next version of an item keeps the attributes that the
// build does not know; see next. Within recent, the attempts in a delivery's record, it does not: each
// version writes the whole attempts. If the build cannot read a word or an attribute, only
// that record fails: see Store.Unreadable. Package proof/formats has an item of
// every kind, and CONTRIBUTING.md says how to change the format of items.
//
// # Consistency
//
// The condition of a new endpoint compares the tenant's number of endpoints with the
// tenant's limit. A next-free time only grows. It takes one update if the stored time is
// past, and a second one otherwise, because an update cannot take the maximum of two values.
//
// Every write that decides something has a condition or adds to a counter. Reads
// are consistent, except for index queries, DeliveryRows, EventHeads and Unrecorded, which
// may lag by a moment. Lists read the record of each index row and drop rows with a stale
// range key. Active, Oldest and CountSelected return the rows of the index without reading records.
//
// Listing a tenant's endpoints takes two reads: the rows, then the endpoints. The reads
// are consistent, so the result has every endpoint that was created before the call and
// not deleted. The key of an endpoint does not name the tenant, so reads and writes compare
// the tenant.
//
// A Query and a BatchGetItem may see half of a transaction, which whoever caches a list under a
// version must notice. The tenant has a digest: the sum of 48 bits for each endpoint and its version,
// which every change of an endpoint adjusts. A list whose sum is that of the tenant is the list of
// the tenant's version, however it was read. So Listing reads the rows alone, and Changes those
// of the endpoints that the tenant's newest changes name; if it misses one, the sums differ.
//
// # Expiry
//
// Events, deliveries, waiting deliveries, attempts, limits, stats, notifications, changes, jobs, outcomes, and
// portal links with their keys have the TTL attribute expires_at. DynamoDB removes expired
// items up to some days late; until then, reads return them. Circuits do not expire: an
// endpoint has at most one, and its generation must never go back. Sequences do not: no number is
// given out again. The items of a tenant
// do not expire either.
package dynamo
