//! Invoices of UN/CEFACT: `CrossIndustryInvoice` (ZUGFeRD 2, Factur-X, XRechnung) and ZUGFeRD 1.0.
//!
//! The two differ in the names of the parts around the same things; each path is tried in both.

use super::tree::Node;
use super::{Found, MAX_ITEMS, before_others, in_currency, value};

pub(super) fn invoice(root: Node<'_>) -> Found {
    let mut found = Found::default();
    let head = root.find("ExchangedDocument").or_else(|| root.find("HeaderExchangedDocument"));
    let trade = root
        .find("SupplyChainTradeTransaction")
        .or_else(|| root.find("SpecifiedSupplyChainTradeTransaction"));
    if let Some(head) = head {
        found.put("invoice_number", [head.said("ID")], value::line);
        found.put(
            "invoice_date",
            [head.said("IssueDateTime/DateTimeString"), head.said("IssueDateTime/DateTime")],
            value::date,
        );
    }
    let Some(trade) = trade else { return found };
    let part = |new: &str, old: &str| trade.find(new).or_else(|| trade.find(old));
    if let Some(agreement) = part("ApplicableHeaderTradeAgreement", "ApplicableSupplyChainTradeAgreement") {
        if let Some(party) = agreement.find("SellerTradeParty") {
            put_party(&mut found, "seller", party);
        }
        if let Some(party) = agreement.find("BuyerTradeParty") {
            put_party(&mut found, "buyer", party);
        }
        let order = "BuyerOrderReferencedDocument";
        found.put(
            "order_number",
            [agreement.said(&format!("{order}/IssuerAssignedID")), agreement.said(&format!("{order}/ID"))],
            value::line,
        );
    }
    if let Some(settlement) = part("ApplicableHeaderTradeSettlement", "ApplicableSupplyChainTradeSettlement")
    {
        put_settlement(&mut found, settlement);
    }
    for line in trade.all("IncludedSupplyChainTradeLineItem").take(MAX_ITEMS) {
        found.add_item(item(line));
    }
    found
}

fn put_party(found: &mut Found, who: &str, party: Node<'_>) {
    found.put(
        &format!("{who}_name"),
        [
            party.said("Name"),
            party.said("SpecifiedLegalOrganization/TradingBusinessName"),
            party.said("DefinedTradeContact/PersonName"),
        ],
        value::line,
    );
    if let Some(address) = party.find("PostalTradeAddress") {
        let one = |name: &str| vec![address.said(name)];
        found.put_address(
            &format!("{who}_address"),
            &[
                one("LineOne"),
                one("LineTwo"),
                one("LineThree"),
                vec![address.said("PostcodeCode"), address.said("CityName")],
                one("CountrySubDivisionName"),
                one("CountryID"),
            ],
        );
    }
    let numbers = party.all("SpecifiedTaxRegistration").filter_map(|tax| tax.said("ID"));
    let number = before_others(numbers, |id| id.attribute("schemeID") == Some("VA"));
    found.put(&format!("{who}_tax_id"), [number], value::line);
}

fn put_settlement(found: &mut Found, settlement: Node<'_>) {
    let currency = settlement.said("InvoiceCurrencyCode");
    found.put("currency", [currency], value::line);
    let terms = "SpecifiedTradePaymentTerms/DueDateDateTime";
    found.put(
        "due_date",
        [settlement.said(&format!("{terms}/DateTimeString")), settlement.said(&format!("{terms}/DateTime"))],
        value::date,
    );
    let means = "SpecifiedTradeSettlementPaymentMeans";
    found.put(
        "iban",
        [settlement.said(&format!("{means}/PayeePartyCreditorFinancialAccount/IBANID"))],
        value::iban,
    );
    found.put(
        "bic",
        [settlement.said(&format!("{means}/PayeeSpecifiedCreditorFinancialInstitution/BICID"))],
        value::line,
    );
    let sums = settlement
        .find("SpecifiedTradeSettlementHeaderMonetarySummation")
        .or_else(|| settlement.find("SpecifiedTradeSettlementMonetarySummation"));
    let Some(sums) = sums else { return };
    let currency = currency.map(Node::text);
    let sum = |name: &str| in_currency(sums.all(name).filter(|node| !node.text().is_empty()), currency);
    found.put("tax_basis_total", [sum("TaxBasisTotalAmount")], value::number);
    found.put("tax_total", [sum("TaxTotalAmount")], value::number);
    found.put("total_amount", [sum("GrandTotalAmount"), sum("DuePayableAmount")], value::number);
}

fn item(line: Node<'_>) -> Found {
    let mut found = Found::default();
    // A line that groups others repeats their sum, and one that informs has none.
    let status = line.said("AssociatedDocumentLineDocument/LineStatusReasonCode").map(Node::text);
    if matches!(status, Some("GROUP" | "INFORMATION")) {
        return found;
    }
    let part = |new: &str, old: &str| line.find(new).or_else(|| line.find(old));
    found.put(
        "description",
        [line.said("SpecifiedTradeProduct/Name"), line.said("SpecifiedTradeProduct/Description")],
        value::line,
    );
    if let Some(delivery) = part("SpecifiedLineTradeDelivery", "SpecifiedSupplyChainTradeDelivery") {
        found.put("quantity", [delivery.said("BilledQuantity")], value::short_number);
    }
    if let Some(agreement) = part("SpecifiedLineTradeAgreement", "SpecifiedSupplyChainTradeAgreement") {
        let price = agreement
            .find("NetPriceProductTradePrice")
            .or_else(|| agreement.find("GrossPriceProductTradePrice"));
        if let Some(price) = price {
            let basis = price.said("BasisQuantity").map_or("1", Node::text);
            found.put("unit_price", [price.said("ChargeAmount")], |text| value::price_of_one(text, basis));
        }
    }
    if let Some(settlement) = part("SpecifiedLineTradeSettlement", "SpecifiedSupplyChainTradeSettlement") {
        let tax = "ApplicableTradeTax";
        found.put(
            "tax_rate",
            [
                settlement.said(&format!("{tax}/RateApplicablePercent")),
                settlement.said(&format!("{tax}/ApplicablePercent")),
            ],
            value::short_number,
        );
        let sums = settlement
            .find("SpecifiedTradeSettlementLineMonetarySummation")
            .or_else(|| settlement.find("SpecifiedTradeSettlementMonetarySummation"));
        if let Some(sums) = sums {
            found.put("net_amount", [sums.said("LineTotalAmount")], value::number);
            found.put("gross_amount", [sums.said("GrandTotalAmount")], value::number);
        }
    }
    found
}
