package dynamo

import (
	_ "embed"
	"fmt"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/zstd"

	"surehook.example/surehook/internal/hook"
)

// encodingZstd marks a compressed payload (RFC 8878).
const encodingZstd = "zstd"

// codec compresses payloads and attempts. It is safe for concurrent use.
type codec struct {
	encoder *zstd.Encoder
	packer  *zstd.Encoder // of attempts
	decoder *zstd.Decoder
}

// newCodec returns a codec with buffers for the largest payload.
func newCodec() codec {
	// The constructors only reject invalid options, and these options are constants.
	encoder, _ := zstd.NewWriter(nil, zstd.WithWindowSize(hook.MaxPayload))
	packer, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(maxUnpacked), zstd.WithEncoderDictRaw(packDictionary, sampleAttempts))
	decoder, _ := zstd.NewReader(nil, zstd.WithDecoderDictRaw(packDictionary, sampleAttempts))
	return codec{encoder, packer, decoder}
}

// encode returns the stored form of the payload and its encoding. It compresses only if the
// compressed form, with its attribute, is smaller.
func (c codec) encode(payload []byte) (stored []byte, encoding string) {
	compressed := c.encoder.EncodeAll(payload, nil)
	if len(compressed)+len("encoding"+encodingZstd) < len(payload) {
		return compressed, encodingZstd
	}
	return payload, ""
}

// decode is the inverse of encode.
func (c codec) decode(stored []byte, encoding string) ([]byte, error) {
	switch encoding {
	case "":
		return stored, nil
	case encodingZstd:
		payload, err := c.decoder.DecodeAll(stored, nil)
		if err != nil {
			return nil, fmt.Errorf("decompress payload: %w", err)
		}
		return payload, nil
	}
	return nil, fmt.Errorf("read payload: encoding %q is unknown", encoding)
}

// The attempts of a delivery differ little, so its record has them as one compressed attribute: each
// write of the delivery writes them again, and up to 1 KB is one write unit.
const (
	maxRecent = 1600 // packed bytes: a delivery with as many is two write units, as is one with a record more
	// maxUnpacked bounds the same attempts in memory, where the breaker has 1,000 deliveries: a receiver
	// can answer with 16 KiB of zeros each time. One such attempt has 22 KB.
	maxUnpacked = 32 << 10

	packDictionary = 1 // the number of sampleAttempts in the packed form
)

// sampleAttempts is the text that packed attempts are compressed against. Records need it to be read:
// it never changes, and another sample gets another number.
//
//go:embed attempts.json
var sampleAttempts []byte

// withAttempt returns the next version of d, whose record has the attempt a and as many of the recent
// ones as fit, the newest; moved are the others. If a is too long itself, it is not in the record.
func (c codec) withAttempt(d hook.Delivery, a hook.Attempt) (it deliveryItem, moved []hook.Attempt, fits bool) {
	if batch := a.Outcome.Batch; batch != nil && batch.Members != nil {
		return c.toDeliveryItem(d), nil, false
	}
	recent := d.Recent
	for n := range len(recent) + 1 {
		d.Recent = append(slices.Clone(recent[n:]), a)
		if it = c.toDeliveryItem(d); len(it.Recent) <= maxRecent && it.unpacked <= maxUnpacked {
			return it, recent[:n], true
		}
	}
	d.Recent = recent
	return c.toDeliveryItem(d), nil, false
}

// pack returns the attempts as DynamoDB's JSON, compressed, and the bytes before; nil for none.
func (c codec) pack(attempts []hook.Attempt) (packed []byte, unpacked int) {
	if len(attempts) == 0 {
		return nil, 0
	}
	list, _ := encode(attempts).(*types.AttributeValueMemberL) // a slice is a list
	text, _ := attributevalue.MarshalListJSON(list.Value)      // of strings, numbers, maps and lists
	ordered := jsontext.Value(text)
	_ = ordered.Canonicalize() // the names in order, because like attempts compress well
	return c.packer.EncodeAll(ordered, nil), len(ordered)
}

// unpack is the inverse of pack.
func (c codec) unpack(packed []byte) (attempts []hook.Attempt, err error) {
	if len(packed) == 0 {
		return nil, nil
	}
	text, err := c.decoder.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("decompress attempts: %w", err)
	}
	list, err := attributevalue.UnmarshalListJSON(text)
	if err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	err = decodeList(list, reflect.ValueOf(&attempts).Elem())
	return attempts, err
}
