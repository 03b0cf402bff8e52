package dynamo

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/hook"
)

// newestItem is in a partition of its own: the keys of an event storm are many.
type newestItem struct {
	key
	Tenant    hook.TenantID `dynamodbav:"tenant"`
	At        int64         `dynamodbav:"newest_at"`
	Event     hook.EventID  `dynamodbav:"newest_id"`
	ExpiresAt int64         `dynamodbav:"expires_at,omitempty"`
}

// newestKey returns the key of the newest event of a key and window.
func newestKey(k hook.NewestKey) key { return key{newestPrefix + k.String(), newestSort} }

func toNewestItem(n hook.Newest) newestItem {
	return newestItem{key: newestKey(n.NewestKey), Tenant: n.Tenant, At: n.AcceptedAt, Event: n.Event, ExpiresAt: ttl(n.ExpiresAt)}
}

func fromNewestItem(it newestItem) (hook.Newest, error) {
	parts := strings.Split(strings.TrimPrefix(it.PK, newestPrefix), "#")
	if len(parts) != 3 {
		return hook.Newest{}, fmt.Errorf("read newest event at %q: %d parts", it.PK, len(parts))
	}
	end, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return hook.Newest{}, fmt.Errorf("read newest event at %q: %w", it.PK, err)
	}
	return hook.Newest{
		NewestKey: hook.NewestKey{Endpoint: hook.EndpointID(parts[0]), End: end, Value: parts[2]},
		Tenant:    it.Tenant, Event: it.Event, AcceptedAt: it.At, ExpiresAt: fromTTL(it.ExpiresAt),
	}, nil
}

// PutNewest makes one conditional write.
func (s *Store) PutNewest(ctx context.Context, n hook.Newest) error {
	op := "put newest event " + string(n.Event)
	put, err := s.put(toNewestItem(n), condition{
		expression: "attribute_not_exists(pk) OR newest_at < :at OR (newest_at = :at AND newest_id < :id)",
		values:     map[string]types.AttributeValue{":at": number(n.AcceptedAt), ":id": text(string(n.Event))},
	})
	if err != nil {
		return translate(err, op)
	}
	if err = s.write(ctx, put); codeOf(err) == hook.CodeConflict {
		return nil // the stored event is as new or newer
	}
	return translate(err, op)
}

// Newest makes one batch read per 100 keys.
func (s *Store) Newest(ctx context.Context, keys []hook.NewestKey) ([]hook.Newest, error) {
	op := fmt.Sprintf("read %d newest events", len(keys))
	wanted := make([]key, len(keys))
	for i, k := range keys {
		wanted[i] = newestKey(k)
	}
	items, err := s.batchGet(ctx, wanted)
	if err != nil {
		return nil, translate(err, op)
	}
	found := readable(ctx, s, items, fromNewestItem)
	return found, translate(err, op)
}
