package dynamo

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/circuit"
	"surehook/internal/hook"
)

// statsKept is how long the counts of an hour are kept after its end.
const statsKept = 48 * time.Hour

// Beginnings of the attributes that count attempts; two digits of the minute follow.
const (
	okPrefix     = "o"
	failedPrefix = "f"
)

// stats are the attributes of an hour's item.
type stats map[string]any

// of returns the count of the minute that t is in.
func (s stats) of(prefix string, t time.Time) int {
	n, _ := s[prefix+t.Format("04")].(float64)
	return int(n)
}

// Count adds to the counts of the minute that now is in and returns those of
// the circuit.Window of whole minutes that ends with it. Concurrent counts all
// count; one may count twice when its answer was lost and the SDK asked again.
//
// It is one request, but for the first minutes of an hour: then it reads the
// hour before, too, if something failed. If nothing did, that part of the
// window is left out, for nothing is decided by it.
func (s *Store) Count(
	ctx context.Context, endpoint hook.EndpointID, add circuit.Counts, now time.Time,
) (circuit.Counts, error) {
	now = now.UTC()
	hour := now.Truncate(time.Hour)
	first := now.Truncate(time.Minute).Add(time.Minute - circuit.Window)
	this, err := s.addCounts(ctx, endpoint, add, now)
	if err != nil {
		return circuit.Counts{}, translate(err, "count attempts of endpoint "+string(endpoint))
	}
	var before stats
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
		window.OK += item.of(okPrefix, t)
		window.Failed += item.of(failedPrefix, t)
	}
	return window, nil
}

// addCounts adds to the minute and returns the item of the hour.
func (s *Store) addCounts(ctx context.Context, endpoint hook.EndpointID, add circuit.Counts, now time.Time) (stats, error) {
	update := "SET expires_at = :expires"
	values := map[string]types.AttributeValue{
		":expires": number(ttl(now.Truncate(time.Hour).Add(time.Hour + statsKept))),
	}
	var adds []string
	for _, a := range []struct {
		prefix string
		n      int
	}{{okPrefix, add.OK}, {failedPrefix, add.Failed}} {
		if a.n != 0 {
			adds = append(adds, a.prefix+now.Format("04")+" :"+a.prefix)
			values[":"+a.prefix] = number(int64(a.n))
		}
	}
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
	var item stats
	err = attributevalue.UnmarshalMap(out.Attributes, &item)
	return item, err //nolint:wrapcheck // the caller translates
}
