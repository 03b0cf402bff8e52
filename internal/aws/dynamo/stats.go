package dynamo

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/hook"
	"surehook/internal/names"
	"surehook/internal/rule/circuit"
	"surehook/internal/rule/stats"
)

// statsKept is how long the counts of an hour are kept after its end.
const statsKept = 48 * time.Hour

// Attributes of an hour's item, or their beginnings. They are short, because
// the item is written with every batch.
const (
	okPrefix     = "o" // and two digits of the minute
	failedPrefix = "f" // and two digits of the minute
	classPrefix  = "c" // and the class's word
	numberPrefix = "n" // and the attempt's number
	bucketPrefix = "h" // and the bucket of the histogram
	deliveredKey = "d"
	firstKey     = "d1"
	waitedKey    = "w" // milliseconds
	deadKey      = "x"
)

// tallies are the attributes of an hour's item.
type tallies map[string]any

// of returns a count.
func (t tallies) of(attribute string) int {
	n, _ := t[attribute].(float64)
	return int(n)
}

// minute is the attribute that counts the minute that t is in.
func minute(prefix string, t time.Time) string { return prefix + t.Format("04") }

// Count adds to the counts of the hour, and of OK and Failed to those of the
// minute, that now is in. It returns OK and Failed of the circuit.Window of
// whole minutes that ends with it. Concurrent counts all count; one may count
// twice when its answer was lost and the SDK asked again.
//
// It is one request, but for the first minutes of an hour: then it reads the
// hour before, too, if something failed. If nothing did, that part of the
// window is left out, for nothing is decided by it.
func (s *Store) Count(
	ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID, add stats.Counts, now time.Time,
) (circuit.Counts, error) {
	now = now.UTC()
	hour := now.Truncate(time.Hour)
	first := now.Truncate(time.Minute).Add(time.Minute - circuit.Window)
	this, err := s.addCounts(ctx, tenant, endpoint, add, now)
	if err != nil {
		return circuit.Counts{}, translate(err, "count attempts of endpoint "+string(endpoint))
	}
	var before tallies
	if first.Before(hour) && add.Failed > 0 {
		err = s.get(ctx, statsKey(endpoint, first), &before, "counts of endpoint", string(endpoint))
		if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
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
	return window, nil
}

// addCounts adds to the hour's item and returns it. Its keys in the index
// by_state are the same each time, so that the index is written once an hour.
func (s *Store) addCounts(
	ctx context.Context, tenant hook.TenantID, endpoint hook.EndpointID, add stats.Counts, now time.Time,
) (tallies, error) {
	values := map[string]types.AttributeValue{
		":expires": number(ttl(now.Truncate(time.Hour).Add(time.Hour + statsKept))),
		":hour":    text(activeState(now)),
		":who":     text(activeRange(tenant, endpoint)),
	}
	var adds []string
	for _, a := range additions(add, now) {
		if a.n != 0 {
			adds = append(adds, a.attribute+" :"+a.attribute)
			values[":"+a.attribute] = number(int64(a.n))
		}
	}
	update := "SET expires_at = :expires, state_pk = :hour, state_sk = :who"
	if len(adds) > 0 {
		update += " ADD " + strings.Join(adds, ", ")
	}
	out, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 s.table,
		Key:                       statsKey(endpoint, now).attributes(),
		UpdateExpression:          aws.String(update),
		ExpressionAttributeValues: values,
		ReturnValues:              types.ReturnValueAllNew,
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller translates
	}
	var item tallies
	err = attributevalue.UnmarshalMap(out.Attributes, &item)
	return item, err //nolint:wrapcheck // the caller translates
}

// addition is how much is added to an attribute.
type addition struct {
	attribute string
	n         int
}

// additions returns what counts add to the hour's item, zeros included.
func additions(c stats.Counts, now time.Time) []addition {
	all := []addition{
		{minute(okPrefix, now), c.OK},
		{minute(failedPrefix, now), c.Failed},
		{deliveredKey, c.Delivered},
		{firstKey, c.First},
		{waitedKey, int(c.Waited.Milliseconds())},
		{deadKey, c.Dead},
	}
	for class, n := range c.Classes {
		all = append(all, addition{classPrefix + hook.Class(class).String(), n})
	}
	for i, n := range c.Numbers {
		all = append(all, addition{numberPrefix + strconv.Itoa(i), n})
	}
	for bucket, n := range c.Latency.Buckets() {
		all = append(all, addition{bucketPrefix + strconv.Itoa(bucket), n})
	}
	return all
}

// counts reads an hour's item.
func (t tallies) counts() stats.Counts {
	c := stats.Counts{
		Delivered: t.of(deliveredKey),
		First:     t.of(firstKey),
		Waited:    time.Duration(t.of(waitedKey)) * time.Millisecond,
		Dead:      t.of(deadKey),
	}
	for class := range c.Classes {
		c.Classes[class] = t.of(classPrefix + hook.Class(class).String())
	}
	for i := range c.Numbers {
		c.Numbers[i] = t.of(numberPrefix + strconv.Itoa(i))
	}
	for attribute := range t {
		n := t.of(attribute)
		i, err := strconv.Atoi(attribute[1:])
		switch {
		case err != nil:
		case strings.HasPrefix(attribute, bucketPrefix):
			c.Latency.AddN(i, n)
		case strings.HasPrefix(attribute, okPrefix):
			c.OK += n
		case strings.HasPrefix(attribute, failedPrefix):
			c.Failed += n
		}
	}
	return c
}

// Hours returns what was counted for the endpoint in the hours that began at or
// after since, in order; hours without anything are left out.
func (s *Store) Hours(ctx context.Context, endpoint hook.EndpointID, since time.Time) ([]stats.Hour, error) {
	op := "read hours of endpoint " + string(endpoint)
	first := statsKey(endpoint, since.Add(time.Hour-1)) // the first that begins at or after since
	var hours []stats.Hour
	pages := dynamodb.NewQueryPaginator(s.db, &dynamodb.QueryInput{
		TableName:              s.table,
		ConsistentRead:         aws.Bool(true),
		KeyConditionExpression: aws.String("pk = :pk AND sk BETWEEN :first AND :last"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(first.PK), ":first": text(first.SK), ":last": text(statsPrefix + "~"),
		},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, translate(err, op)
		}
		var items []tallies
		if err := attributevalue.UnmarshalListOfMaps(page.Items, &items); err != nil {
			return nil, translate(err, op)
		}
		for _, it := range items {
			sk, _ := it["sk"].(string)
			start, err := time.Parse(statsHour, strings.TrimPrefix(sk, statsPrefix))
			if err != nil {
				return nil, translate(err, op)
			}
			hours = append(hours, stats.Hour{Start: start, Counts: it.counts()})
		}
	}
	return hours, nil
}

// Active returns the endpoints for which something was counted in the hour that
// at is in, in the order of tenant and id, at most limit (1 to 1000), after the
// one given; the zero Look: from the first. The index behind it may lag a moment.
func (s *Store) Active(ctx context.Context, at time.Time, after hook.CircuitCheck, limit int) ([]hook.CircuitCheck, error) {
	const op = "list active endpoints"
	begin := ""
	if after.Endpoint != "" {
		begin = activeRange(after.Tenant, after.Endpoint)
	}
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{
		TableName:              s.table,
		IndexName:              aws.String(names.IndexByState),
		KeyConditionExpression: aws.String("state_pk = :hour AND state_sk > :after"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":hour": text(activeState(at)), ":after": text(begin + "#"), // no id goes on after a whole one
		},
		Limit: aws.Int32(int32(min(max(limit, 1), maxRows))),
	})
	if err != nil {
		return nil, translate(err, op)
	}
	var rows []indexRow
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &rows); err != nil {
		return nil, translate(err, op)
	}
	looks := make([]hook.CircuitCheck, 0, len(rows))
	for _, row := range rows {
		tenant, endpoint, _ := strings.Cut(row.StateSK, "#")
		looks = append(looks, hook.CircuitCheck{Tenant: hook.TenantID(tenant), Endpoint: hook.EndpointID(endpoint)})
	}
	return looks, nil
}
