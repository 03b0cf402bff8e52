package picture_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/localstack/tools/picture"
)

// prod returns the board of the golden template of prod.
func prod(t *testing.T) picture.Board {
	t.Helper()
	raw, err := os.ReadFile("../../../infra/surehook/testdata/prod.template.json")
	if err != nil {
		t.Fatal(err)
	}
	b, err := picture.ReadBoard(raw, map[string]string{"Live848578DF": "surehook-prod-live", "NotInTheTemplate": "x"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func widget(t *testing.T, b picture.Board, title string) picture.Widget {
	t.Helper()
	for _, w := range b.Widgets {
		if w.Title == title {
			return w
		}
	}
	t.Fatalf("the dashboard has no widget %q", title)
	return picture.Widget{}
}

func TestReadBoard_readsWidgetsMetricsAndAlarms(t *testing.T) {
	t.Parallel()

	b := prod(t)
	if depth := widget(t, b, "Queue depth"); len(depth.Left) != 9 || depth.Left[0].Dimensions["QueueName"] != "surehook-prod-live" {
		t.Errorf("Queue depth = %+v; want nine metrics, the first one of the queue surehook-prod-live", depth)
	}
	letters := widget(t, b, "Dead letters: by hour (left), open (right)")
	if len(letters.Left) != 1 || len(letters.Right) != 5 || letters.Limit != 100 || letters.Left[0].Seconds != 3600 {
		t.Errorf("Dead letters = %+v; want one metric by the hour on the left, five on the right, and the limit of the alarm", letters)
	}
	rate := widget(t, b, "Success rate, last hour").Left
	if len(rate) != 1 || rate[0].Expression == "" || rate[0].Inputs["dead"].Name != "dead" {
		t.Errorf("Success rate = %+v; want one expression with its inputs, which are not shown", rate)
	}
	if alarms := widget(t, b, "Alarms").Alarms; len(alarms) < 20 || alarms[0] != "surehook-prod-dead-letters" {
		t.Errorf("Alarms = %v; want their names", alarms)
	}
}

func TestReadBoard_refuses(t *testing.T) {
	t.Parallel()

	for name, raw := range map[string]string{
		"invalid JSON":                   `{`,
		"a template without a dashboard": `{"Resources": {}}`,
		"a body that is not JSON":        `{"Resources": {"D": {"Type": "AWS::CloudWatch::Dashboard", "Properties": {"DashboardBody": "no"}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if b, err := picture.ReadBoard([]byte(raw), nil); err == nil {
				t.Errorf("ReadBoard(%s) = %v, nil; want an error", raw, b)
			}
		})
	}
}

// lines are in the log format of the functions: two with metrics, of 3 delivered deliveries and 1
// dead one, and two without.
const lines = `deliver {"message":"delivery.attempted","outcome":"delivered","latency_ms":250,"delivered":3,"environment":"surehook-prod","_aws":{"Timestamp":1795276800000,"CloudWatchMetrics":[{"Namespace":"Surehook","Dimensions":[["environment"],["environment","outcome"]],"Metrics":[{"Name":"delivered","Unit":"Count"},{"Name":"latency_ms","Unit":"Milliseconds"}]}]}}
deliver {"message":"delivery.attempted","dead":1,"environment":"surehook-prod","_aws":{"Timestamp":1795276815000,"CloudWatchMetrics":[{"Namespace":"Surehook","Dimensions":[["environment"]],"Metrics":[{"Name":"dead","Unit":"Count"}]}]}}
deliver {"message":"batch.handled"}
deliver not JSON at all
`

func TestDraw_showsEveryWidget(t *testing.T) {
	t.Parallel()

	v := picture.NewValues()
	if n, err := v.AddLog([]byte(lines)); n != 2 || err != nil {
		t.Fatalf("AddLog = %d, %v; want the 2 lines with metrics", n, err)
	}
	v.Add("AWS/SQS", "ApproximateNumberOfMessagesVisible", map[string]string{"QueueName": "surehook-prod-live"}, time.UnixMilli(1795276830000), 42)
	var out bytes.Buffer
	if err := picture.Draw(&out, prod(t), v, `A <title> & "more"`, "caption"); err != nil {
		t.Fatal(err)
	}
	svg := out.String()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is not well-formed XML: %v", err)
		}
	}
	for what, want := range map[string]string{
		"the title, escaped":                          `>A &lt;title&gt; &amp; &quot;more&quot;</text>`,
		"the rate of 3 delivered and 1 dead":          `font-size="34" fill="#16191f" text-anchor="start">75</text>`,
		"the latest depth of the live queue":          `font-size="34" fill="#16191f" text-anchor="start">42</text>`,
		"a widget without values":                     `>from AWS, not on this machine</text>`,
		"every widget, those without values included": `>Table capacity consumed in 5 minutes</text>`,
		"the alarms without their common prefix":      `>dead-letters</text>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture does not show %s: want %s", what, want)
		}
	}
	if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
		t.Error("the picture has coordinates that are not numbers")
	}
}
