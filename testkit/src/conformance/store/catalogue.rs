//! Tags, near duplicates, and what meanings say: what followers put into the catalogue, and what is found there.

use docmill_core::ErrorKind;
use docmill_core::document::DocumentState;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ingestion::{Facts, IngestionEnd};
use docmill_core::ports::Store;
use docmill_core::ports::catalogue::{Entry, TagQuery};
use docmill_core::ports::store::{Done, ListQuery};
use docmill_core::problem::ResultCode;
use docmill_core::sketch::Sketch;
use docmill_core::understanding::{Judgement, Understanding};

use super::world::{World, done};
use crate::conformance::{Bench, Case};

pub(super) fn cases() -> Vec<Case<dyn Store>> {
    crate::cases![
        tags_of_the_newest_ingestion_are_counted_once,
        catalogue_goes_on_only_from_where_it_stands,
        tags_come_page_by_page_the_most_frequent_first,
        merged_tags_stay_merged_for_later_documents,
        merges_that_cannot_be_are_refused,
        tags_of_other_tenants_are_neither_seen_nor_changed,
        removed_document_leaves_nothing_in_the_catalogue,
        list_of_a_tag_is_the_list_of_all_without_the_others,
        tags_are_embedded_once_for_each_model,
        near_documents_share_most_of_their_text,
        judgement_is_kept_until_it_is_taken_back,
    ]
}

impl World {
    /// A document of this text that is about these tags; another ingestion of it, if it is there.
    async fn about(&self, text: &str, tags: &[&str]) -> DocumentId {
        let received = self.take(self.receipt(None, &format!("{text}.txt"), text)).await;
        let lease = self.claim_one().await;
        let understanding = Understanding {
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..Understanding::default()
        };
        let facts =
            Facts { title: Some(text.into()), understanding: Some(understanding), ..Facts::default() };
        let end = Some(IngestionEnd::completed(ResultCode::Success, Vec::new()));
        self.report(&lease, done(Done { facts, end, ..Done::default() })).await;
        received.document_id.unwrap()
    }

    /// Does what the follower does.
    async fn follow(&self) {
        self.follow_with(|_| None).await;
    }

    async fn follow_with(&self, sketch: impl Fn(DocumentId) -> Option<Sketch>) {
        let from = self.store.catalogued().await.unwrap();
        let new = self.store.uncatalogued(from, 100).await.unwrap();
        let Some(upto) = new.last().map(|new| new.seq) else { return };
        let entries = new
            .into_iter()
            .map(|new| Entry {
                tenant_id: new.tenant_id,
                document_id: new.document_id,
                tags: if new.removed { Vec::new() } else { new.tags },
                sketch: if new.removed { None } else { sketch(new.document_id) },
            })
            .collect();
        assert!(self.store.catalogue(entries, from, upto).await.unwrap());
        assert_eq!(self.store.catalogued().await.unwrap(), upto);
    }

    async fn tags_of(&self, tenant: TenantId) -> Vec<(String, u64)> {
        let query = TagQuery { limit: 100, ..TagQuery::default() };
        let answer = self.store.tags(tenant, &query).await.unwrap();
        assert_eq!(answer.next, None);
        answer.items.into_iter().map(|line| (line.tag, line.documents)).collect()
    }

    async fn tags(&self) -> Vec<(String, u64)> {
        self.tags_of(self.tenant).await
    }

    async fn tagged(&self, key: &str) -> Vec<DocumentId> {
        let query = ListQuery { tag: Some(key.into()), ..ListQuery::all(10) };
        let listed = self.store.list(self.tenant, &query).await.unwrap();
        listed.documents.into_iter().map(|line| line.document_id).collect()
    }
}

fn lines(tags: &[(&str, u64)]) -> Vec<(String, u64)> {
    tags.iter().map(|(tag, documents)| ((*tag).to_owned(), *documents)).collect()
}

async fn tags_of_the_newest_ingestion_are_counted_once(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    assert_eq!(world.store.catalogued().await.unwrap(), 0);
    world.about("one", &["Office  chairs", "delivery", "DELIVERY", " ", "z\u{0}ero"]).await;
    world.about("two", &["office chairs"]).await;
    world.follow().await;
    let first = lines(&[("Office chairs", 2), ("delivery", 1), ("z ero", 1)]);
    assert_eq!(world.tags().await, first);
    // The same again changes nothing.
    world.about("two", &["office chairs"]).await;
    world.follow().await;
    assert_eq!(world.tags().await, first);
    // A document that is read again loses what it is not about any more, and a tag of no document is forgotten.
    let one = world.about("one", &["delivery", "warehouse"]).await;
    world.follow().await;
    assert_eq!(world.tags().await, lines(&[("delivery", 1), ("Office chairs", 1), ("warehouse", 1)]));
    assert_eq!(world.tagged("delivery").await, [one]);
    assert_eq!(world.store.uncatalogued(world.store.catalogued().await.unwrap(), 10).await.unwrap(), []);
}

async fn catalogue_goes_on_only_from_where_it_stands(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let document_id = world.about("one", &["chairs"]).await;
    world.follow().await;
    let stands = world.store.catalogued().await.unwrap();
    let entry = Entry { tenant_id: world.tenant, document_id, tags: vec!["other".into()], sketch: None };
    assert!(!world.store.catalogue(vec![entry.clone()], stands - 1, stands + 1).await.unwrap());
    assert_eq!(world.tags().await, lines(&[("chairs", 1)]));
    let racing = (0..4).map(|_| world.store.catalogue(vec![entry.clone()], stands, stands + 1));
    let taken = futures::future::join_all(racing).await;
    assert_eq!(taken.into_iter().filter(|taken| *taken.as_ref().unwrap()).count(), 1);
    assert_eq!(world.tags().await, lines(&[("other", 1)]));
}

async fn tags_come_page_by_page_the_most_frequent_first(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.about("one", &["b", "c.d", "Äpfel", "a"]).await;
    world.about("two", &["b", "äpfel"]).await;
    world.follow().await;
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let query = TagQuery { limit: 1, cursor, containing: None };
        let answer = world.store.tags(world.tenant, &query).await.unwrap();
        seen.extend(answer.items.into_iter().map(|line| line.tag));
        cursor = answer.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["b", "Äpfel", "a", "c.d"]);
    let query = TagQuery { limit: 9, containing: Some("pf".into()), cursor: None };
    let found = world.store.tags(world.tenant, &query).await.unwrap().items;
    assert_eq!(found.iter().map(|line| line.tag.as_str()).collect::<Vec<_>>(), ["Äpfel"]);
    let bad = TagQuery { limit: 9, cursor: Some("nonsense".into()), containing: None };
    assert_eq!(world.store.tags(world.tenant, &bad).await.unwrap_err().kind(), ErrorKind::InvalidRequest);
}

async fn merged_tags_stay_merged_for_later_documents(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.about("one", &["bill", "invoice"]).await;
    world.about("two", &["bill"]).await;
    world.follow().await;
    let merged = world.store.merge_tags(world.tenant, "Bill", "invoice").await.unwrap().unwrap();
    assert_eq!((merged.tag.tag.as_str(), merged.tag.documents, merged.moved), ("invoice", 2, 2));
    assert_eq!(world.tags().await, lines(&[("invoice", 2)]));
    assert_eq!(world.tagged("invoice").await.len(), 2);
    // The same again is done already.
    let again = world.store.merge_tags(world.tenant, "bill", "invoice").await.unwrap().unwrap();
    assert_eq!((again.tag.documents, again.moved), (2, 0));
    world.about("three", &["bill"]).await;
    world.follow().await;
    assert_eq!(world.tags().await, lines(&[("invoice", 3)]));
    let keys = ["bill".to_owned(), "invoice".to_owned(), "none".to_owned()];
    let names = world.store.tag_names(world.tenant, &keys).await.unwrap();
    assert_eq!(names, [Some("invoice".to_owned()), Some("invoice".to_owned()), None]);
    // What was merged goes along, also into a tag that is new.
    world.store.merge_tags(world.tenant, "invoice", "Accounts").await.unwrap().unwrap();
    world.about("four", &["bill", "invoice"]).await;
    world.follow().await;
    assert_eq!(world.tags().await, lines(&[("Accounts", 4)]));
    // And back.
    world.store.merge_tags(world.tenant, "accounts", "bill").await.unwrap().unwrap();
    world.about("five", &["accounts", "invoice"]).await;
    world.follow().await;
    assert_eq!(world.tags().await, lines(&[("bill", 5)]));
}

async fn merges_that_cannot_be_are_refused(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.about("one", &["a", "b", "c"]).await;
    world.follow().await;
    let merge = async |from: &str, into: &str| world.store.merge_tags(world.tenant, from, into).await;
    assert_eq!(merge("nothing", "a").await.unwrap(), None);
    assert_eq!(merge("a", " A ").await.unwrap_err().kind(), ErrorKind::InvalidRequest);
    assert_eq!(merge("a", " ").await.unwrap_err().kind(), ErrorKind::InvalidRequest);
    merge("a", "b").await.unwrap().unwrap();
    assert_eq!(merge("a", "c").await.unwrap_err().kind(), ErrorKind::Conflict, "its documents are elsewhere");
    assert_eq!(world.tags().await, lines(&[("b", 1), ("c", 1)]));
}

async fn tags_of_other_tenants_are_neither_seen_nor_changed(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let document = world.about("one", &["secret", "common"]).await;
    world.follow().await;
    let other = world.store.tenant("other").await.unwrap();
    assert_eq!(world.tags_of(other).await, []);
    assert_eq!(world.store.merge_tags(other, "secret", "common").await.unwrap(), None);
    assert_eq!(world.store.tag_names(other, &["secret".into()]).await.unwrap(), [None]);
    assert_eq!(world.store.compared_tags(other, "m").await.unwrap(), []);
    let query = ListQuery { tag: Some("secret".into()), ..ListQuery::all(10) };
    assert_eq!(world.store.list(other, &query).await.unwrap().documents, []);
    let judged = Judgement { kind: Some("letter".into()), ..Judgement::default() };
    world.store.judge(vec![(other, document, Some(judged))]).await.unwrap();
    assert_eq!(world.store.judgement(world.tenant, document).await.unwrap(), None);
    assert_eq!(world.store.judgement(other, document).await.unwrap(), None);
    assert_eq!(world.tags().await.len(), 2);
}

async fn removed_document_leaves_nothing_in_the_catalogue(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let one = world.about("one", &["secret", "common"]).await;
    let two = world.about("two", &["common"]).await;
    world.follow_with(|_| Some(Sketch::of([1; 128]))).await;
    let judged = Judgement { kind: Some("letter".into()), ..Judgement::default() };
    world.store.judge(vec![(world.tenant, one, Some(judged.clone()))]).await.unwrap();
    let secret = world.store.unembedded_tags("m", 10).await.unwrap();
    let secret: Vec<_> = secret.into_iter().map(|tag| (tag, vec![1.0])).collect();
    world.store.embed_tags("m", secret.clone()).await.unwrap();
    world.store.remove(world.tenant, one).await.unwrap().unwrap();
    // At once, and not when the follower comes by.
    assert_eq!(world.tags().await, lines(&[("common", 1)]));
    assert_eq!(world.store.near(world.tenant, two).await.unwrap(), []);
    assert_eq!(world.store.judgement(world.tenant, one).await.unwrap(), None);
    world.follow().await;
    assert_eq!(world.tags().await, lines(&[("common", 1)]));
    // What comes too late for it changes nothing.
    world.store.judge(vec![(world.tenant, one, Some(judged))]).await.unwrap();
    assert_eq!(world.store.judgement(world.tenant, one).await.unwrap(), None);
    world.store.embed_tags("m", secret).await.unwrap();
    world.about("three", &["secret"]).await;
    world.follow().await;
    let tags = world.store.compared_tags(world.tenant, "m").await.unwrap();
    let meaning = |name: &str| tags.iter().find(|tag| tag.line.tag == name).unwrap().meaning.clone();
    assert_eq!((meaning("common"), meaning("secret")), (Some(vec![1.0]), None));
}

async fn list_of_a_tag_is_the_list_of_all_without_the_others(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let mut chairs = Vec::new();
    for n in 0..7 {
        let id = world.about(&format!("text {n}"), if n % 2 == 0 { &["chairs"] } else { &["tables"] }).await;
        chairs.extend((n % 2 == 0).then_some(id));
    }
    world.follow().await;
    chairs.reverse();
    assert_eq!(world.tagged("chairs").await, chairs);
    assert_eq!(world.tagged("nothing").await, []);
    let mut query =
        ListQuery { tag: Some("chairs".into()), state: Some(DocumentState::Ready), ..ListQuery::all(3) };
    let page = world.store.list(world.tenant, &query).await.unwrap();
    assert_eq!(page.documents.iter().map(|line| line.document_id).collect::<Vec<_>>(), chairs[..3]);
    query.cursor = page.next_cursor;
    let rest = world.store.list(world.tenant, &query).await.unwrap();
    assert_eq!(rest.documents.iter().map(|line| line.document_id).collect::<Vec<_>>(), chairs[3..]);
    assert_eq!(rest.next_cursor, None);
    let failed = ListQuery { state: Some(DocumentState::Failed), cursor: None, ..query };
    assert_eq!(world.store.list(world.tenant, &failed).await.unwrap().documents, []);
}

async fn tags_are_embedded_once_for_each_model(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.about("one", &["Chairs", "tables", "odd"]).await;
    world.about("two", &["chairs"]).await;
    world.follow().await;
    let mut new = world.store.unembedded_tags("m1", 2).await.unwrap();
    assert_eq!(new.len(), 2);
    new = world.store.unembedded_tags("m1", 10).await.unwrap();
    assert_eq!(new.iter().map(|tag| tag.name.as_str()).collect::<Vec<_>>(), ["Chairs", "odd", "tables"]);
    let told = new.into_iter().map(|tag| {
        let vector = if tag.name == "odd" { Vec::new() } else { vec![0.5, -1.0] };
        (tag, vector)
    });
    world.store.embed_tags("m1", told.collect()).await.unwrap();
    assert_eq!(world.store.unembedded_tags("m1", 10).await.unwrap(), [], "not even what the model failed on");
    assert_eq!(world.store.unembedded_tags("m2", 10).await.unwrap().len(), 3);
    let tags = world.store.compared_tags(world.tenant, "m1").await.unwrap();
    assert_eq!((tags[0].line.documents, tags[0].meaning.as_deref()), (2, Some([0.5, -1.0].as_slice())));
    assert_eq!(tags[1].meaning, None);
    let other = world.store.compared_tags(world.tenant, "m2").await.unwrap();
    assert!(other.len() == 3 && other.iter().all(|tag| tag.meaning.is_none()), "{other:?}");
}

async fn near_documents_share_most_of_their_text(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let mut ids = Vec::new();
    for name in ["whole", "most", "half less", "other", "empty"] {
        ids.push(world.about(name, &[]).await);
    }
    let sketch = |id: DocumentId| {
        let (differs, by) =
            [(0, 9), (20, 9), (70, 9), (128, 5)][..].get(ids.iter().position(|known| *known == id)?)?;
        let mut bytes = [7; 128];
        bytes[..*differs].fill(*by);
        Some(Sketch::of(bytes))
    };
    world.follow_with(sketch).await;
    let near = world.store.near(world.tenant, ids[0]).await.unwrap();
    assert_eq!(near.iter().map(|line| line.document_id).collect::<Vec<_>>(), [ids[1]], "{near:?}");
    assert!((near[0].similarity - 0.84).abs() < 0.01, "{near:?}");
    assert_eq!((near[0].name.as_str(), near[0].title.as_deref()), ("most.txt", Some("most")));
    // 58 of 128 are like the first, but 78 like the second.
    let near = world.store.near(world.tenant, ids[2]).await.unwrap();
    assert_eq!(near.iter().map(|line| line.document_id).collect::<Vec<_>>(), [ids[1]], "{near:?}");
    assert_eq!(world.store.near(world.tenant, ids[4]).await.unwrap(), [], "without words nothing is near");
    let other = world.store.tenant("other").await.unwrap();
    assert_eq!(world.store.near(other, ids[0]).await.unwrap(), []);
    // A newer text is another one.
    world.about("most", &[]).await;
    world.follow_with(|_| Some(Sketch::of([9; 128]))).await;
    assert_eq!(world.store.near(world.tenant, ids[0]).await.unwrap(), []);
}

async fn judgement_is_kept_until_it_is_taken_back(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let id = world.about("one", &[]).await;
    assert_eq!(world.store.judgement(world.tenant, id).await.unwrap(), None);
    for kind in ["letter", "report\u{0}"] {
        let judged = Judgement { kind: Some(kind.into()), ..Judgement::default() };
        world.store.judge(vec![(world.tenant, id, Some(judged.clone()))]).await.unwrap();
        assert_eq!(world.store.judgement(world.tenant, id).await.unwrap(), Some(judged));
    }
    world.store.judge(vec![(world.tenant, id, None)]).await.unwrap();
    assert_eq!(world.store.judgement(world.tenant, id).await.unwrap(), None);
}
