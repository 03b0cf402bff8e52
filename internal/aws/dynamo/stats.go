package dynamo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/circuit"
	"surehook.example/surehook/internal/rule/stats"
)

// maxExpression bounds the additions in an update of an hour's item, in bytes. DynamoDB limits an
// expression to 4,096 bytes. Additions past the bound are left out: latencies of event types, in
// an update of more than about 300 counts.
const maxExpression = 3800

// Attributes of an hour's item, or prefixes of attributes. The names are short
// because every batch writes the item.
const (
	okPrefix      = "o" // two digits of the minute follow; alone: the whole hour
	failedPrefix  = "f" // two digits of the minute follow; alone: the whole hour
	classPrefix   = "c" // the name of the class follows
	numberPrefix  = "n" // the number of the attempt follows
	bucketPrefix  = "h" // the bucket of the histogram follows
	deliveredKey  = "d"
	firstKey      = "d1"
	passedKey     = "p"
	failedAtKey   = "a" // milliseconds since 1970
	failedWithKey = "r" // an HTTP status
	waitedKey     = "w" // milliseconds
	deadKey       = "x"
	queuedKey     = "q" // milliseconds
)

// hourItem is an hour's item.
type hourItem struct {
	numbers map[string]int // by attribute
	types   []string       // event types with counts of their own
}

// hourOf reads the numbers of the item.
func hourOf(item attributes) (hourItem, error) {
	it := hourItem{numbers: make(map[string]int, len(item))}
	for attribute, v := range item {
		if number, ok := v.(*types.AttributeValueMemberN); ok {
			n, err := strconv.Atoi(number.Value)
			if err != nil {
				return hourItem{}, fmt.Errorf("decode count %s: %w", attribute, err)
			}
			it.numbers[attribute] = n
		}
	}
	if set, ok := item[typesKey].(*types.AttributeValueMemberSS); ok {
		it.types = set.Value
	}
	return it, nil
}

// of returns the count in the attribute.
func (it hourItem) of(attribute string) int { return it.numbers[attribute] }

// minute returns the attribute for the minute of t.
func minute(prefix string, t time.Time) string { return prefix + t.Format("04") }

// Count makes one update. In the first minutes of an hour it also reads the hour before, but only
// if add contains failures or 429s. Otherwise the result leaves out that part of the window,
// because other results decide nothing.
//
// Counts can be too high: when the SDK repeats a request after a lost answer, it adds again.
func (s *Store) Count(
	ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID, add *stats.Counts, now time.Time,
) (circuit.Counts, error) {
	now = now.UTC()
	hour := now.Truncate(time.Hour)
	first := now.Truncate(time.Minute).Add(time.Minute - circuit.Window)
	this, err := s.addCounts(ctx, tenant, endpoint, add, now, false)
	if err != nil {
		return circuit.Counts{}, translate(err, "count attempts of endpoint "+string(endpoint))
	}
	var before hourItem
	if first.Before(hour) && add.Failed+add.Classes[hook.ClassThrottled] > 0 {
		before, err = readOr(ctx, s, statsKey(endpoint, first), "counts of endpoint", string(endpoint), before)
		if err != nil {
			return circuit.Counts{}, err
		}
	}
	var window circuit.Counts
	for t := first; !t.After(now); t = t.Add(time.Minute) {
		item := this
		if t.Before(hour) {
			item = before
		}
		window.OK += item.of(minute(okPrefix, t))
		window.Failed += item.of(minute(failedPrefix, t))
	}
	current := now.Truncate(time.Minute)
	window.LastOK, window.LastFailed = this.of(minute(okPrefix, current)), this.of(minute(failedPrefix, current))
	return window, nil
}

// CountMore makes one update, on the condition that the hour has an item.
func (s *Store) CountMore(ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID, add *stats.Counts, at time.Time) error {
	if _, err := s.addCounts(ctx, tenant, endpoint, add, at.UTC(), true); err != nil {
		return translate(err, "count more attempts of endpoint "+string(endpoint))
	}
	return nil
}

// addCounts adds to the hour's item and returns the item. With stored, it does nothing if the
// item does not exist. The item's keys in the index by_state do not change within the hour, so
// the index is written once an hour.
//
// A condition guards the number of types in the item. Each time it fails, the item has one more
// type, so the loop ends.
func (s *Store) addCounts(
	ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID, add *stats.Counts, now time.Time, stored bool,
) (item hourItem, err error) {
	hour := now.Truncate(time.Hour)
	for room := s.roomOf(endpoint, hour); ; {
		input := s.countUpdate(tenant, endpoint, add, room, now, stored)
		out, err := s.db.UpdateItem(ctx, input)
		var found attributes
		failed, full := errors.AsType[*types.ConditionalCheckFailedException](err)
		switch {
		case full && stored && len(failed.Item) == 0:
			return hourItem{}, nil
		case full:
			found = failed.Item
		case err != nil:
			return hourItem{}, err
		default:
			found = out.Attributes
		}
		if item, err = hourOf(found); err != nil {
			return hourItem{}, err
		}
		s.types.Add(endpointHour{endpoint, hour}, item.types, len(strings.Join(item.types, "")))
		if !full {
			return item, nil
		}
		if room.sure && len(item.types) <= len(room.known) {
			return hourItem{}, err
		}
		room = typeRoom{known: item.types, sure: true}
	}
}

// countUpdate returns the update of the hour's item.
func (s *Store) countUpdate(
	tenant hook.TenantID, endpoint hook.EndpointID, add *stats.Counts, room typeRoom, now time.Time, stored bool,
) *dynamodb.UpdateItemInput {
	values := attributes{
		":expires": number(now.Truncate(time.Hour).Add(time.Hour + stats.Kept).Unix()),
		":hour":    text(activeShard(now, endpoint)),
		":who":     text(activeRange(tenant, endpoint)),
	}
	guard := room.fit(&add.Types, values)
	input := &dynamodb.UpdateItemInput{
		TableName:                 s.table,
		Key:                       statsKey(endpoint, now).attributes(),
		ExpressionAttributeValues: values,
		ReturnValues:              types.ReturnValueAllNew,
	}
	var adds []string
	size := 0
	put := func(attribute string, n int) {
		value := amount(n)
		term := attribute + " " + value
		if n != 0 && size+len(term) < maxExpression {
			size += len(term) + len(", ")
			adds = append(adds, term)
			values[value] = number(int64(n))
		}
	}
	addAll(add, now, put)
	if guard.expression != "" {
		adds = append(adds, typesKey+" :types")
	}
	addTypes(&add.Types, put)
	if stored {
		guard = exists().and(guard)
	}
	if input.ConditionExpression = guard.given(); input.ConditionExpression != nil {
		input.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	update := "SET "
	if add.Unsuccessful() > 0 {
		update += passedKey + " = :passed, " + failedWithKey + " = :with, " + failedAtKey + " = if_not_exists(" + failedAtKey + ", :at), "
		values[":passed"], values[":with"], values[":at"] = number(int64(add.Passed)), number(int64(add.FailedWith)), number(now.UnixMilli())
	}
	update += "expires_at = :expires, state_pk = :hour, state_sk = :who"
	if len(adds) > 0 {
		update += " ADD " + strings.Join(adds, ", ")
	}
	if old := pastMinutes(now); len(old) > 0 {
		update += " REMOVE " + strings.Join(old, ", ")
	}
	input.UpdateExpression = &update
	return input
}

// amount returns the name of the value n in an expression. Attributes with the same amount share
// the value, so the counts of 8 types with attempts of every duration fit into maxExpression.
func amount(n int) string {
	if n < 0 {
		return ":m" + strconv.Itoa(-n)
	}
	return ":n" + strconv.Itoa(n)
}

// pastMinutes returns the attributes of ten minutes before the window. No window needs
// the minutes again, and without the minutes the item stays below a write unit.
func pastMinutes(now time.Time) []string {
	var old []string
	first := now.Truncate(time.Minute).Add(time.Minute - circuit.Window)
	for t := first.Add(-circuit.Window); t.Before(first); t = t.Add(time.Minute) {
		if !t.Before(now.Truncate(time.Hour)) {
			old = append(old, minute(okPrefix, t), minute(failedPrefix, t))
		}
	}
	return old
}

// counter is a count with an attribute of its own.
type counter struct {
	attribute string
	n         *int
}

// counters returns the counts that only grow, but for those of minutes, durations and types.
func counters(c *stats.Counts) []counter {
	all := []counter{
		{deliveredKey, &c.Delivered},
		{firstKey, &c.First},
		{deadKey, &c.Dead},
		{okPrefix, &c.OK},
		{failedPrefix, &c.Failed},
	}
	for class := range c.Classes {
		all = append(all, counter{classPrefix + hook.Class(class).String(), &c.Classes[class]})
	}
	for i := range c.Numbers {
		all = append(all, counter{numberPrefix + strconv.Itoa(i), &c.Numbers[i]})
	}
	return all
}

// addAll adds the counts to the hour's item, without those of event types.
func addAll(c *stats.Counts, now time.Time, add func(attribute string, n int)) {
	add(minute(okPrefix, now), c.OK)
	add(minute(failedPrefix, now), c.Failed)
	add(waitedKey, int(c.Waited.Milliseconds()))
	add(queuedKey, int(c.Queued.Milliseconds()))
	for _, counter := range counters(c) {
		add(counter.attribute, *counter.n)
	}
	if c.Unsuccessful() == 0 {
		add(passedKey, c.Passed)
	}
	for bucket, n := range c.Latency.Buckets() {
		add(bucketPrefix+strconv.Itoa(bucket), n)
	}
}

// counts decodes an hour's item.
func (it hourItem) counts() stats.Counts {
	c := stats.Counts{
		Passed: it.of(passedKey), FailedWith: it.of(failedWithKey),
		Waited: time.Duration(it.of(waitedKey)) * time.Millisecond, Queued: time.Duration(it.of(queuedKey)) * time.Millisecond,
	}
	for _, counter := range counters(&c) {
		*counter.n = it.of(counter.attribute)
	}
	entries := typeEntries(&c.Types, it.types)
	for attribute, n := range it.numbers {
		switch attribute[:1] {
		case bucketPrefix:
			if bucket, ok := digits(attribute[1:]); ok {
				c.Latency.AddN(bucket, n)
			}
		case succeededPrefix, unsuccessPrefix, deathPrefix, coarsePrefix:
			readTypeCount(entries, attribute, n)
		}
	}
	return c
}

// digits returns the number of the text; ok is false for other text, without the cost
// of an error.
func digits(text string) (n int, ok bool) {
	for _, r := range text {
		if r < '0' || r > '9' {
			return 0, false
		}
		n = 10*n + int(r-'0')
	}
	return n, text != ""
}

// Hours reads the endpoint's hours in one query per 1 MB. Hours without counts
// are absent.
func (s *Store) Hours(ctx context.Context, endpoint hook.EndpointID, since time.Time) ([]stats.Hour, error) {
	op := "read hours of endpoint " + string(endpoint)
	first := statsKey(endpoint, since.Add(time.Hour-1)) // the first hour at or after since
	items, err := s.all(ctx, s.consistent(first.PK, between, first.SK, statsPrefix+"~"))
	if err != nil {
		return nil, translate(err, op)
	}
	var hours []stats.Hour
	for _, item := range items {
		it, err := hourOf(item)
		if err != nil {
			return nil, translate(err, op)
		}
		var at key
		if err := decodeItem(item, &at); err != nil {
			return nil, translate(err, op)
		}
		start, err := time.Parse(statsHour, strings.TrimPrefix(at.SK, statsPrefix))
		if err != nil {
			return nil, translate(err, op)
		}
		hours = append(hours, stats.Hour{Start: start, FailedAt: fromMillis(int64(it.of(failedAtKey))), Counts: it.counts()})
	}
	return hours, nil
}

// Active queries the 16 shards of the hour, usually with one request for each.
// limit is cut to 1 to 1000.
func (s *Store) Active(ctx context.Context, at time.Time, after hook.CircuitCheck, limit int) ([]hook.CircuitCheck, error) {
	const op = "list active endpoints"
	limit = min(max(limit, 1), maxRows)
	begin := "#" // after all keys of the endpoint: an id contains no "#"
	if after.Endpoint != "" {
		begin = activeRange(after.Tenant, after.Endpoint) + begin
	}
	rows, err := s.merged(s.shardQueries(activeList(at), endpointShards, above, begin), "", firstPage(limit, endpointShards), limit).Take(ctx, limit)
	if err != nil {
		return nil, translate(err, op)
	}
	active := make([]hook.CircuitCheck, len(rows))
	for i, row := range rows {
		tenant, endpoint, _ := strings.Cut(row.StateSK, "#")
		active[i] = hook.CircuitCheck{Tenant: hook.TenantID(tenant), Endpoint: hook.EndpointID(endpoint)}
	}
	return active, nil
}
