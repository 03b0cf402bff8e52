package dynamo_test

import (
	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/proof/porttest"
)

var _ porttest.StoreUnderTest = (*dynamo.Store)(nil)
