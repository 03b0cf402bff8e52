package dynamo

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"surehook.example/surehook/internal/hook"
)

// imageItem is an event or a delivery in the stream of the table, with the attributes
// that name begun deliveries.
type imageItem struct {
	key
	Targets    []hook.Target  `stored:"targets"`     // of an event
	AcceptedAt time.Time      `stored:"accepted_at"` // of an event
	Replayed   *hook.Replayed `stored:"replayed"`    // of a delivery
}

// Begun returns the deliveries that become queued when an item of the table is written: the first
// generations of an event, and the next generation of a replayed delivery; none for any other
// item. image is the item in DynamoDB's JSON, as in a record of the stream.
func Begun(image []byte) ([]hook.DeliveryRef, error) {
	item, err := attributevalue.UnmarshalMapJSON(image)
	if err != nil {
		return nil, translate(err, "read item of the stream")
	}
	var it imageItem
	if err := decodeItem(item, &it); err != nil {
		return nil, translate(err, "read item of the stream")
	}
	begun, err := it.begun()
	return begun, translate(err, fmt.Sprintf("read item %s %s of the stream", it.PK, it.SK))
}

func (it imageItem) begun() ([]hook.DeliveryRef, error) {
	switch {
	case it.SK == eventSort:
		id, err := hook.ParseEventID(strings.TrimPrefix(it.PK, eventPrefix))
		if err != nil {
			return nil, err
		}
		refs := make([]hook.DeliveryRef, 0, len(it.Targets))
		for _, target := range it.Targets {
			refs = append(refs, hook.QueuedDelivery(hook.Event{ID: id, AcceptedAt: it.AcceptedAt}, target).Ref())
		}
		return refs, nil
	case strings.HasPrefix(it.SK, deliveryPrefix) && it.Replayed != nil:
		ref, err := refOf(it.key)
		if err != nil {
			return nil, err
		}
		return []hook.DeliveryRef{ref.Successor()}, nil
	}
	return nil, nil
}
