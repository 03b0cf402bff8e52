package dynamo

import (
	"reflect"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// attributes is an item, or a part of one, as the API has it.
type attributes = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// millis returns the stored form of a time: milliseconds since 1970, 0 for the
// zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// fromMillis is the inverse of millis, in UTC.
func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// ttl returns the form of DynamoDB's TTL: whole seconds since 1970, 0 for the zero
// time.
func ttl(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// fromTTL is the inverse of ttl, in UTC.
func fromTTL(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// parse returns the value of an enumeration with the name; the zero value for none.
func parse[T ~uint8](name string) (v T, err error) {
	return v, wordCoder(reflect.TypeFor[T]()).decode(text(name), reflect.ValueOf(&v).Elem())
}

// removed is when the table removes an item whose record has no such time.
type removed struct {
	At time.Time `stored:"expires_at,seconds"`
}
