package dynamo

import (
	"fmt"

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
