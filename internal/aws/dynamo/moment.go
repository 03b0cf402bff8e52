package dynamo

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/store"
)

const (
	// maxMomentKeys bounds the items of one transaction, beside the catalogue: 24
	// event types have less than the 4 MB of a transaction.
	maxMomentKeys = 24
	// maxMomentTries bounds the tries of a read as of one moment. A commit takes
	// milliseconds, and the waits of 4 tries add up to 70 ms at most.
	maxMomentTries = 4
)

// errTorn means that a transaction changes the items during the read.
var errTorn = &hook.Error{Code: hook.CodeUnavailable, Message: "a transaction changes the items"}

// untorn repeats a read as of one moment while transactions change the items. torn
// means that the items changed during every try.
func (s *Store) untorn(ctx context.Context, read func() error) (torn bool, err error) {
	err = store.Persist(ctx, s.Wait, maxMomentTries, read)
	if errors.Is(err, errTorn) && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}

// typesOfOneMoment reads the catalogue and the existing items of the event types as of one moment. DynamoDB
// commits the items of a transaction one by one, and a Query or a BatchGetItem meanwhile sees some
// items after and some before the transaction. TransactGetItems never does. Each transaction reads the
// catalogue, too: equal versions prove that no change is between two transactions. An error wraps
// errTorn when a transaction changes the items.
func (s *Store) typesOfOneMoment(ctx context.Context, keys []key) (c hook.Catalogue, items []attributes, err error) {
	for first := true; first || len(keys) > 0; first = false {
		chunk := keys[:min(len(keys), maxMomentKeys)]
		keys = keys[len(chunk):]
		read, err := s.transactGet(ctx, append([]key{catalogueKey()}, chunk...))
		if err != nil {
			return c, nil, err
		}
		before := c.Version
		if err := decodeItem(read[0], &c); err != nil {
			return c, nil, err
		}
		if !first && c.Version != before {
			return c, nil, errTorn
		}
		items = append(items, slices.DeleteFunc(read[1:], func(item attributes) bool { return len(item) == 0 })...)
	}
	return c, items, nil
}

// transactGet reads the items as of one moment, in the order of the keys; nil for an
// item that does not exist.
func (s *Store) transactGet(ctx context.Context, keys []key) ([]attributes, error) {
	gets := make([]types.TransactGetItem, len(keys))
	for i, k := range keys {
		gets[i].Get = &types.Get{TableName: s.table, Key: k.attributes()}
	}
	out, err := s.db.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: gets})
	if interrupted(err) {
		return nil, errTorn
	}
	if err != nil {
		return nil, err
	}
	items := make([]attributes, len(keys))
	for i, response := range out.Responses[:min(len(keys), len(out.Responses))] {
		items[i] = response.Item
	}
	return items, nil
}

// projected returns the projection of the named attributes, some of which have reserved names; none
// stands for all.
func projected(only []string) (*string, map[string]string) {
	if len(only) == 0 {
		return nil, nil
	}
	words, of := make([]string, len(only)), make(map[string]string, len(only))
	for i, name := range only {
		words[i] = "#" + name
		of[words[i]] = name
	}
	return aws.String(strings.Join(words, ", ")), of
}
