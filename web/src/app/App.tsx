import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { Route, Switch } from "wouter";
import { asRefusal } from "../api/http";
import { LiveProvider } from "../api/LiveProvider";
import { Access } from "../screens/access/Access";
import { BatchDetail } from "../screens/batches/BatchDetail";
import { Batches } from "../screens/batches/Batches";
import { DeadLetters } from "../screens/dead/DeadLetters";
import { DocumentScreen } from "../screens/document/DocumentScreen";
import { LibraryScreen } from "../screens/library/LibraryScreen";
import { Overview } from "../screens/overview/Overview";
import { Problems } from "../screens/problems/Problems";
import { ReviewQueue } from "../screens/review/ReviewQueue";
import { ReviewScreen } from "../screens/review/ReviewScreen";
import { SearchScreen } from "../screens/search/SearchScreen";
import { SettingsScreen } from "../screens/settings/SettingsScreen";
import { TagsScreen } from "../screens/tags/TagsScreen";
import { Workers } from "../screens/workers/Workers";
import { Toasts } from "../ui/Toasts";
import { UploadProvider } from "../upload/UploadProvider";
import { Lost } from "./Lost";
import { Shell } from "./Shell";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      // The feed says when something changed; a refusal that will not change is shown at once.
      retry: (failures, error) => failures < 2 && asRefusal(error).retryable,
      refetchOnWindowFocus: false,
    },
  },
});

export function App() {
  return (
    <QueryClientProvider client={client}>
      <LiveProvider>
        <Toasts>
          <UploadProvider>
            <Shell>
              <Switch>
                <Route path="/" component={Overview} />
                <Route path="/library" component={LibraryScreen} />
                <Route path="/documents/:id">{({ id }) => <DocumentScreen key={id} id={id} />}</Route>
                <Route path="/search" component={SearchScreen} />
                <Route path="/reviews" component={ReviewQueue} />
                <Route path="/reviews/:id">{({ id }) => <ReviewScreen key={id} id={id} />}</Route>
                <Route path="/problems" component={Problems} />
                <Route path="/batches" component={Batches} />
                <Route path="/batches/:id">{({ id }) => <BatchDetail key={id} id={id} />}</Route>
                <Route path="/tags" component={TagsScreen} />
                <Route path="/workers" component={Workers} />
                <Route path="/dead" component={DeadLetters} />
                <Route path="/access" component={Access} />
                <Route path="/settings" component={SettingsScreen} />
                <Route component={Lost} />
              </Switch>
            </Shell>
          </UploadProvider>
        </Toasts>
      </LiveProvider>
    </QueryClientProvider>
  );
}
