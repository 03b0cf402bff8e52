package shape_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
)

// TestPresets compares the results of the presets with the expected ones, also for
// the largest payload. A payload cannot mention people, end the code block, or make links.
func TestPresets(t *testing.T) {
	t.Parallel()

	const id, at = "evt_01h455vb4pex5vsknk084sn02q", "2026-11-26T07:30:00.007Z"
	want := map[string]string{
		"cloudevents": `{"data":{"n":1},"datacontenttype":"application/json","id":"` + id + `","source":"/tenants/acme","specversion":"1.0","time":"` + at + `","type":"order.paid"}`,
		"discord":     "{\"embeds\":[{\"description\":\"```json\\n{\\\"n\\\":1}\\n```\",\"footer\":{\"text\":\"" + id + `"},"timestamp":"` + at + `","title":"order.paid"}]}`,
		"slack": "{\"blocks\":[{\"text\":{\"text\":\"order.paid\",\"type\":\"plain_text\"},\"type\":\"header\"},{\"text\":{\"text\":\"```{\\\"n\\\":1}```\",\"type\":\"mrkdwn\"},\"type\":\"section\"}," +
			`{"elements":[{"text":"` + at + " · " + id + `","type":"mrkdwn"}],"type":"context"}],"text":"order.paid"}`,
		"teams": `{"attachments":[{"content":{"body":[{"size":"Medium","text":"order.paid","type":"TextBlock","weight":"Bolder"},{"inlines":[{"fontType":"Monospace","text":"{\"n\":1}","type":"TextRun"}],"type":"RichTextBlock"},` +
			`{"isSubtle":true,"text":"` + at + " · " + id + `","type":"TextBlock"}],"type":"AdaptiveCard","version":"1.4"},"contentType":"application/vnd.microsoft.card.adaptive"}],"type":"message"}`,
	}
	escaped := map[string]string{
		"cloudevents": "``` <!channel> [a](https://b.c) &",
		"discord":     "''' <!channel> [a](https://b.c) &",
		"slack":       "''' &lt;!channel&gt; [a](https://b.c) &amp;",
		"teams":       "``` <!channel> [a](https://b.c) &", // a RichTextBlock shows it as it is
	}
	// The largest body that each receiver documents.
	most := map[string]int{"slack": 4000, "discord": 6000, "teams": 28 << 10, "cloudevents": shape.MaxBody}
	files, err := filepath.Glob("presets/*.cel")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d presets, %v; want %d", len(files), err, len(want))
	}
	large := `{"text": "` + strings.Repeat("<", hook.MaxPayload/8) + `"}`
	var s shape.Shaper
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".cel")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e := &hook.Endpoint{Transformation: string(text)}
		if !shape.Preset(e.Transformation) || !shape.Preset(strings.TrimSpace(e.Transformation)) || shape.Preset(e.Transformation+"+1") {
			t.Errorf("Preset() of %s, or of another expression, is wrong", name)
		}
		got, err := s.Shape(nil, e, event(`{"n": 1}`))
		if diff := cmp.Diff(want[name], string(got.Body)); err != nil || diff != "" || !json.Valid(got.Body) {
			t.Errorf("%s = %v (-want +got):\n%s", name, err, diff)
		}
		got, err = s.Shape(nil, e, event("{\"note\": \"``` <!channel> [a](https://b.c) &\"}"))
		if !strings.Contains(string(got.Body), escaped[name]) || err != nil {
			t.Errorf("%s of a hostile payload = %s, %v; want %s", name, got.Body, err, escaped[name])
		}
		if got, err := s.Shape(nil, e, event(large)); err != nil || name != "cloudevents" && len(got.Body) > most[name]*2 {
			t.Errorf("%s of a large payload has %d bytes, %v; want at most %d", name, len(got.Body), err, most[name]*2)
		}
	}
}
