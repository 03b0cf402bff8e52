package dynamo

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

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

// enum is an enumeration: values from 1 without gaps, each with a name. Every
// other value has the name "unknown".
type enum interface {
	~uint8
	fmt.Stringer
}

// word returns the stored form of a value: the name, or "" for the zero value.
// Names keep records independent of the order of constants.
func word[T enum](v T) string {
	if v == 0 {
		return ""
	}
	return v.String()
}

// parse is the inverse of word.
func parse[T enum](s string) (T, error) {
	if s == "" {
		return 0, nil
	}
	for v := T(1); v.String() != "unknown"; v++ {
		if v.String() == s {
			return v, nil
		}
	}
	return 0, fmt.Errorf("read stored word: %q is not a %T", s, T(0))
}
