package dynamo

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/store"
)

const (
	// maxMomentKeys bounds the items of one transaction, beside the versioned item: 24
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

// moment is a versioned item, and the items whose every change changes the version.
type moment struct {
	head  map[string]types.AttributeValue // nil: the versioned item does not exist
	items []map[string]types.AttributeValue
}

// asOfOneMoment reads the versioned item and the existing items of the keys as of one
// moment. DynamoDB commits the items of a transaction one by one, and a Query or a
// BatchGetItem meanwhile sees some items after and some before the transaction.
// TransactGetItems never does. Each transaction reads the versioned item, too: equal
// versions prove that no change is between two transactions. An error wraps errTorn
// when a transaction changes the items.
func (s *Store) asOfOneMoment(ctx context.Context, versioned key, keys []key) (moment, error) {
	chunks := slices.Collect(slices.Chunk(keys, maxMomentKeys))
	if len(chunks) == 0 {
		chunks = [][]key{nil}
	}
	var mu sync.Mutex
	var found moment
	var version int64
	first := true
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(maxShardQueries)
	for _, chunk := range chunks {
		group.Go(func() error {
			one, err := s.transactGet(groupCtx, append([]key{versioned}, chunk...))
			if err != nil {
				return err
			}
			var head struct {
				Version int64 `stored:"version"`
			}
			if err := decodeItem(one[0], &head); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()

			if !first && head.Version != version {
				return errTorn
			}
			first, version, found.head = false, head.Version, one[0]
			for _, item := range one[1:] {
				if len(item) > 0 {
					found.items = append(found.items, item)
				}
			}
			return nil
		})
	}
	return found, group.Wait()
}

// transactGet reads the items as of one moment, in the order of the keys; nil for an
// item that does not exist.
func (s *Store) transactGet(ctx context.Context, keys []key) ([]map[string]types.AttributeValue, error) {
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
	items := make([]map[string]types.AttributeValue, len(keys))
	for i, response := range out.Responses[:min(len(keys), len(out.Responses))] {
		items[i] = response.Item
	}
	return items, nil
}

// projected returns the projection of the attributes, some of which have reserved names.
func projected(attributes []string) (*string, map[string]string) {
	words, of := make([]string, len(attributes)), make(map[string]string, len(attributes))
	for i, name := range attributes {
		words[i] = "#" + name
		of[words[i]] = name
	}
	return aws.String(strings.Join(words, ", ")), of
}
